// SPDX-License-Identifier: Apache-2.0
// What the protocol of an exchange says whoever carries it: names of transfers, flags, loops, bounds and pair counts.
#pragma once

#include "core/records.hpp"
#include "core/state.hpp"
#include "netmodels/exchange/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace orrery {

// A transfer's name within its carrier. Packed, it is also the order of completions within one picosecond.
struct TransferName {
    std::uint32_t slot = 0, source = 0, target = 0;  // members; at most 65,535 of them

    constexpr std::uint64_t pack() const {
        return static_cast<std::uint64_t>(slot) << 32 | static_cast<std::uint64_t>(source) << 16 | target;
    }
    static constexpr TransferName unpack(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word >> 16) & 0xffff,
                static_cast<std::uint32_t>(word) & 0xffff};
    }
};

enum class CountPairs : std::uint8_t { no, yes };

// The rate at which a loop feeds the wire while it runs.
Rate loop_rate(ExchangePlan const& plan, std::uint64_t messages, Time loop);

// When a sender whose loop ends then has raised its flag (or announcement) for that peer.
inline Time flag_leaves(ExchangePlan const& plan, Time loop_end, std::uint32_t members, std::uint32_t source,
                        std::uint32_t target) {
    return loop_end + plan.flag_time((target + members - source) % members);
}

// The longest time that any of some bundles needs for its bytes, and which one it is.
struct PortBound {
    Time time;
    std::uint32_t bundle = no_bundle_binds;

    void consider(Time needed, std::uint32_t by) {
        if (needed <= time) return;
        time = needed;
        bundle = by;
    }
};

// What concerns an instance as a whole.
struct InstanceFacts {
    Time first_start = Time::infinity(), last_start{}, last_end{};
    Time longest_loop{}, shortest_loop = Time::infinity();
    std::int64_t payload_bytes = 0;

    void posted(Time started, Time loop, std::uint64_t messages) {
        first_start = std::min(first_start, started);
        last_start = std::max(last_start, started);
        longest_loop = std::max(longest_loop, loop);
        if (messages > 0) shortest_loop = std::min(shortest_loop, loop);
    }
    CollectiveRow row(ExchangeKey key, ExchangePlan const& plan, PortBound ports, std::uint32_t domain,
                      std::uint32_t sequence) const;
};

// For the report of a run that could not finish.
struct StuckExchange {
    ExchangeKey key;
    std::vector<std::uint32_t> missing;              // members that never posted
    std::vector<std::pair<RankId, RankId>> starved;  // transfers on links that carry nothing
    std::vector<std::uint32_t> waiting;              // members that posted and were never told
};

// Payload from every source of a carrier to every member of its groups.
class PairTable {
  public:
    // `sources` members from `first` on are this carrier's; the others are never counted.
    void count(ExchangeKey key, std::uint32_t members, std::uint32_t first, std::uint32_t sources, std::uint32_t source,
               std::uint32_t target, std::int64_t payload);
    void emit(ExchangeTraffic const& traffic, TimelineSink& sink) const;
    void state(StateStream& stream) { stream(groups_); }

  private:
    struct Rows {
        std::uint32_t first = 0, members = 0;
        std::vector<PairRow> rows;  // [source - first][target]
        void state(StateStream& stream) { stream(first, members, rows); }
    };
    std::map<std::uint32_t, Rows> groups_;
};

}  // namespace orrery
