// SPDX-License-Identifier: Apache-2.0
// The analytic model: alpha-beta with serialisation at the two ends of a transfer and no contention in between.
#pragma once

#include "netmodels/exchange/engine_rates.hpp"
#include "netmodels/exchange/link_meter.hpp"
#include "netmodels/exchange/transfer_engine.hpp"

namespace orrery {

// A transfer leaves its first link after everything its sender offered to that link before, and passes its last link
// after everything that reached it before, each at the full rate of the link (or of the engine that feeds it):
//   done = max(serialised on the first link, serialised on the last link), no earlier than offered + bytes / slowest.
// Never optimistic about a port, always optimistic about the fabric: at most the flow model's time on a single port,
// and a lower bound for the links in between. Cost: O(log transfers) per transfer.
class AnalyticEngine final : public TransferEngine {
  public:
    AnalyticEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Time bin_width);

    std::uint32_t open_engine(Rate rate) override { return engines_.open(rate); }
    void close_engine(std::uint32_t engine) override { engines_.close(engine); }
    void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
               std::int64_t wire_bytes, std::uint64_t cookie) override;
    void settle(Time) override {}
    Time next() const override { return pending_.empty() ? Time::infinity() : pending_.front().when; }
    void advance(Time now, std::vector<TransferDone>& done) override;
    LinkTraffic& traffic() override { return traffic_; }
    std::vector<std::uint64_t> starved() const override { return starved_; }
    void state(StateStream& stream) override {
        stream(sends_until_, receives_until_, engines_, pending_, starved_, traffic_);
    }

  private:
    // Bytes are booked on the bin in which the transfer ends.
    class Bins final : public LinkTraffic {
      public:
        explicit Bins(Time width) : width_(width) {}
        void add(BundleId bundle, Time when, std::int64_t bytes);
        void emit_until(Time now, TimelineSink& sink) override;
        void state(StateStream& stream) { stream(rows_); }

      private:
        Time width_;
        std::vector<LinkBinRow> rows_;
    };

    DomainMap const* map_;
    std::vector<Rate> capacity_;
    std::vector<Time> sends_until_, receives_until_;  // per local bundle, as first and as last hop
    EngineRates engines_;
    std::vector<TransferDone> pending_;  // binary heap, earliest first
    std::vector<std::uint64_t> starved_;
    Bins traffic_;
};

}  // namespace orrery
