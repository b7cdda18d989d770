// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/exchange_rules.hpp"

namespace orrery {

Rate loop_rate(ExchangePlan const& plan, std::uint64_t messages, Time loop) {
    constexpr UInt128 fastest = 100'000'000'000'000;  // b/s: beyond any port
    auto const bits = static_cast<UInt128>(messages) * static_cast<std::uint64_t>(plan.wire_bytes) *
                      8'000'000'000'000U / static_cast<std::uint64_t>(loop.ps());
    return Rate::from_bits_per_s(static_cast<std::int64_t>(std::min(bits, fastest)));
}

CollectiveRow InstanceFacts::row(ExchangeKey key, ExchangePlan const& plan, PortBound ports, std::uint32_t domain,
                                 std::uint32_t sequence) const {
    // Prepared: no byte leaves before the shortest loop is over.
    if (plan.loop == ExchangeLoop::prepared && ports.time > Time{}) ports.time += shortest_loop;
    ports.consider(longest_loop, no_bundle_binds);
    return {.first_start = first_start,
            .last_start = last_start,
            .last_end = last_end,
            .bound = plan.launch + ports.time + plan.finish,
            .payload_bytes = payload_bytes,
            .group = key.group,
            .domain = domain,
            .sequence = sequence,
            .bound_bundle = ports.bundle,
            .layer = key.layer,
            .kind = key.kind,
            .microbatch = key.microbatch};
}

void PairTable::count(ExchangeKey key, std::uint32_t members, std::uint32_t first, std::uint32_t sources,
                      std::uint32_t source, std::uint32_t target, std::int64_t payload) {
    auto& group = groups_[key.group];
    if (group.rows.empty()) group = {first, members, std::vector<PairRow>(static_cast<std::size_t>(sources) * members)};
    auto& row = group.rows[static_cast<std::size_t>(source - first) * members + target];
    (key.kind == OpKind::combine ? row.combine_bytes : row.dispatch_bytes) += payload;
}

void PairTable::emit(ExchangeTraffic const& traffic, TimelineSink& sink) const {
    for (auto const& [number, group] : groups_) {
        auto const base = traffic.first_rank(number).value();
        for (std::size_t i = 0; i < group.rows.size(); ++i) {
            auto row = group.rows[i];
            if (row.dispatch_bytes == 0 && row.combine_bytes == 0) continue;
            row.source = base + group.first + static_cast<std::uint32_t>(i / group.members);
            row.target = base + static_cast<std::uint32_t>(i % group.members);
            sink.add(row);
        }
    }
}

}  // namespace orrery
