// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_sink.hpp"

#include <algorithm>

namespace orrery {

void RunSink::add(OperationRow const& row) {
    statistics_.add(row);
    ++operations_;
    forward(row);
}

void RunSink::add(CollectiveRow const& row) {
    auto& bounds = bounds_[static_cast<std::size_t>(row.kind)];
    ++bounds.exchanges;
    bounds.sum_ps += row.bound.ps();
    bounds.bound_ps[row.bound_bundle] += row.bound.ps();
    forward(row);
}

void RunSink::state(StateStream& stream) {
    ORRERY_ENSURE(bins_.empty() && packet_bins_.empty() && pairs_.empty(),
                  "rows are on their way at the moment of a checkpoint");
    if (!stream.restoring()) return stream(statistics_, operations_, bounds_);
    auto const statistics = stream.value(OperationStatistics{});
    statistics_.merge(statistics);
    operations_ += stream.value(std::int64_t{0});
    std::array<Bounds, op_kind_count> more;
    stream(more);
    for (std::size_t kind = 0; kind < more.size(); ++kind) {
        bounds_[kind].exchanges += more[kind].exchanges;
        bounds_[kind].sum_ps += more[kind].sum_ps;
        for (auto const& [bundle, ps] : more[kind].bound_ps) bounds_[kind].bound_ps[bundle] += ps;
    }
}

void RunSink::forward_bins() {
    std::sort(bins_.begin(), bins_.end(), [](LinkBinRow const& a, LinkBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.bundle < b.bundle;
    });
    for (auto const& row : bins_) forward(row);
    bins_.clear();
    std::sort(packet_bins_.begin(), packet_bins_.end(), [](PacketBinRow const& a, PacketBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.link < b.link;
    });
    for (auto const& row : packet_bins_) forward(row);
    packet_bins_.clear();
}

void RunSink::forward_pairs() {
    std::sort(pairs_.begin(), pairs_.end(), [](PairRow const& a, PairRow const& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
    });
    for (auto const& row : pairs_) forward(row);
    pairs_.clear();
    pairs_.shrink_to_fit();
}

}  // namespace orrery
