// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/eplb.hpp"

#include "core/check.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

using Loads = std::vector<std::uint64_t>;

// Which pack every item goes to: heaviest item first, into the lightest pack that has room.
std::vector<std::uint32_t> pack(Loads const& loads, std::vector<std::uint32_t> room) {
    std::vector<std::uint32_t> order(loads.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return loads[a] != loads[b] ? loads[a] > loads[b] : a < b; });
    std::vector<UInt128> weight(room.size(), 0);
    std::vector<std::uint32_t> pack_of(loads.size());
    for (std::uint32_t const item : order) {
        std::size_t best = room.size();
        for (std::size_t i = 0; i < room.size(); ++i)
            if (room[i] > 0 && (best == room.size() || weight[i] < weight[best])) best = i;
        ORRERY_ENSURE(best < room.size(), "{} items do not fit {} packs", loads.size(), room.size());
        pack_of[item] = static_cast<std::uint32_t>(best);
        weight[best] += loads[item];
        --room[best];
    }
    return pack_of;
}

// How many replicas every expert gets: one each, then again and again one more for the largest load per replica.
std::vector<std::uint32_t> replicate(Loads const& loads, std::uint32_t replicas) {
    std::vector<std::uint32_t> count(loads.size(), 1);
    for (auto left = replicas - static_cast<std::uint32_t>(loads.size()); left > 0; --left) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < loads.size(); ++i)  // loads[i] / count[i] > loads[best] / count[best]
            if (static_cast<UInt128>(loads[i]) * count[best] > static_cast<UInt128>(loads[best]) * count[i]) best = i;
        ++count[best];
    }
    return count;
}

// Replicates `experts` and packs them on ranks with the given numbers of slots; the result is in rank order.
std::vector<std::int32_t> place_on(std::vector<std::uint32_t> const& experts, Loads const& loads,
                                   std::vector<std::uint32_t> const& slots_of_rank) {
    Loads mine;
    for (std::uint32_t const expert : experts) mine.push_back(loads[expert]);
    auto const slots = std::accumulate(slots_of_rank.begin(), slots_of_rank.end(), 0U);
    auto const count = replicate(mine, slots);
    Loads replica_load;  // in 2^-20, so that the shares of an expert are fractions
    std::vector<std::uint32_t> replica_of;
    for (std::size_t i = 0; i < experts.size(); ++i)
        for (std::uint32_t copy = 0; copy < count[i]; ++copy) {
            replica_load.push_back((mine[i] << 20) / count[i]);
            replica_of.push_back(experts[i]);
        }
    auto const rank_of = pack(replica_load, slots_of_rank);
    std::vector<std::int32_t> placed;
    for (std::uint32_t rank = 0; rank < slots_of_rank.size(); ++rank)
        for (std::size_t replica = 0; replica < replica_of.size(); ++replica)
            if (rank_of[replica] == rank) placed.push_back(static_cast<std::int32_t>(replica_of[replica]));
    return placed;
}

std::vector<std::uint32_t> ranks_of_node(EplbShape const& shape, std::uint32_t node) {
    auto const per_node = static_cast<std::ptrdiff_t>(shape.slots_of_rank.size() / shape.nodes);
    auto const first = shape.slots_of_rank.begin() + per_node * static_cast<std::ptrdiff_t>(node);
    return {first, first + per_node};
}

bool hierarchical(std::uint32_t experts, EplbShape const& shape) {
    if (shape.nodes < 2 || shape.groups % shape.nodes != 0 || experts % shape.groups != 0 ||
        shape.slots_of_rank.size() % shape.nodes != 0)
        return false;
    for (std::uint32_t node = 0; node < shape.nodes; ++node) {  // every node must hold its share of the experts
        auto const ranks = ranks_of_node(shape, node);
        if (std::accumulate(ranks.begin(), ranks.end(), 0U) < experts / shape.nodes) return false;
    }
    return true;
}

}  // namespace

std::string eplb_mode_text(std::uint32_t experts, EplbShape const& shape) {
    return hierarchical(experts, shape) ? fmt::format("hierarchical over {} nodes", shape.nodes) : "global";
}

std::vector<std::int32_t> eplb_place(std::vector<std::uint64_t> const& loads, EplbShape const& shape) {
    auto const experts = static_cast<std::uint32_t>(loads.size());
    auto const slots = std::accumulate(shape.slots_of_rank.begin(), shape.slots_of_rank.end(), 0U);
    ORRERY_ENSURE(experts > 0 && slots >= experts, "{} experts do not fit {} slots", experts, slots);
    for (std::uint64_t const load : loads)
        ORRERY_ENSURE(load <= (std::uint64_t{1} << 40), "load {} is too large", load);
    if (!hierarchical(experts, shape)) {
        std::vector<std::uint32_t> all(experts);
        std::iota(all.begin(), all.end(), 0U);
        return place_on(all, loads, shape.slots_of_rank);
    }
    std::uint32_t const per_group = experts / shape.groups;
    Loads group_load(shape.groups, 0);
    for (std::uint32_t expert = 0; expert < experts; ++expert) group_load[expert / per_group] += loads[expert];
    auto const node_of = pack(group_load, std::vector<std::uint32_t>(shape.nodes, shape.groups / shape.nodes));
    std::vector<std::int32_t> placed;
    for (std::uint32_t node = 0; node < shape.nodes; ++node) {
        std::vector<std::uint32_t> mine;
        for (std::uint32_t expert = 0; expert < experts; ++expert)
            if (node_of[expert / per_group] == node) mine.push_back(expert);
        auto const part = place_on(mine, loads, ranks_of_node(shape, node));
        placed.insert(placed.end(), part.begin(), part.end());
    }
    return placed;
}

}  // namespace orrery
