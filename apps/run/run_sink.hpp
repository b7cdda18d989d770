// SPDX-License-Identifier: Apache-2.0
// Where the rows of one process pass on their way to its part of the timeline: counted, summed, forwarded.
#pragma once

#include "core/records.hpp"
#include "core/state.hpp"
#include "io/summary/statistics.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace orrery {

class RunSink final : public TimelineSink {
  public:
    explicit RunSink(TimelineSink& next) : next_(&next) {}

    void add(OperationRow const& row) override;
    void add(CollectiveRow const& row) override;
    void add(ExpertLoadRow const& row) override { forward(row); }
    void add(LinkBinRow const& row) override { bins_.push_back(row); }
    void add(PairRow const& row) override { pairs_.push_back(row); }
    void add(PacketBinRow const& row) override { packet_bins_.push_back(row); }

    // Link bins come from several domains; this puts the collected ones in order and forwards them.
    void forward_bins();
    // The same for the pairs of several domains, once at the end.
    void forward_pairs();

    OperationStatistics& statistics() { return statistics_; }
    std::int64_t operations() const { return operations_; }
    std::int64_t rows() const { return rows_; }  // of all tables, forwarded so far

    // Of dispatch and combine: the sum of the bounds of all exchanges, and of those that each bundle
    // (CollectiveRow::bound_bundle) binds.
    struct Bounds {
        std::int64_t exchanges = 0, sum_ps = 0;
        std::map<std::uint32_t, std::int64_t> bound_ps;
        void state(StateStream& stream) { stream(exchanges, sum_ps, bound_ps); }
    };
    // Restoring adds to what is there: sums of several processes become those of one.
    void state(StateStream& stream);
    Bounds const& bounds(OpKind kind) const { return bounds_[static_cast<std::size_t>(kind)]; }

  private:
    template <class Row>
    void forward(Row const& row) {
        ++rows_;
        next_->add(row);
    }

    TimelineSink* next_;
    OperationStatistics statistics_;
    std::int64_t operations_ = 0, rows_ = 0;
    std::array<Bounds, op_kind_count> bounds_;
    std::vector<LinkBinRow> bins_;
    std::vector<PairRow> pairs_;
    std::vector<PacketBinRow> packet_bins_;
};

}  // namespace orrery
