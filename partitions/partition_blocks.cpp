// SPDX-License-Identifier: Apache-2.0
// Partition method "blocks".
#include "core/check.hpp"
#include "partitions/partition_methods.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

// What is placed in one piece: a block, or a single LP.
struct Unit {
    std::int64_t weight = 0;
    std::size_t first = 0, last = 0;  // into the list of light LPs
};

struct Light {
    std::vector<std::uint32_t> lps;   // in order of (block, id)
    std::vector<std::int64_t> quota;  // per process: what it should take of them
};

// How much each process may still take so that all end level, given what they carry already.
std::vector<std::int64_t> level_quotas(std::vector<std::int64_t> const& load, std::int64_t weight) {
    auto sorted = load;
    std::sort(sorted.begin(), sorted.end());
    // The level reached by pouring `weight` over the `low` least loaded processes.
    std::int64_t level = 0, poured = weight;
    for (std::size_t low = 1; low <= sorted.size(); ++low) {
        poured += sorted[low - 1];
        auto const n = static_cast<std::int64_t>(low);
        level = (poured + n - 1) / n;
        if (low == sorted.size() || level <= sorted[low]) break;
    }
    std::vector<std::int64_t> quota;
    for (auto const carried : load) quota.push_back(std::max<std::int64_t>(0, level - carried));
    return quota;
}

// Lays the units end to end beside the quotas laid end to end: a unit goes where its middle lies.
void deal(Light const& light, std::vector<Unit> const& units, std::vector<std::uint32_t>& owner) {
    std::uint32_t process = 0;
    auto const last_process = static_cast<std::uint32_t>(light.quota.size() - 1);
    std::int64_t quota_end = light.quota[0], at = 0;
    for (auto const& unit : units) {
        while (process < last_process && 2 * at + unit.weight >= 2 * quota_end) quota_end += light.quota[++process];
        for (auto i = unit.first; i < unit.last; ++i) owner[light.lps[i]] = process;
        at += unit.weight;
    }
}

std::vector<Unit> units_of(LpGraph const& graph, Light const& light,
                           bool (*together)(LpGraph const&, std::uint32_t, std::uint32_t)) {
    std::vector<Unit> units;
    for (std::size_t i = 0; i < light.lps.size(); ++i) {
        if (units.empty() || !together(graph, light.lps[i - 1], light.lps[i])) units.push_back({0, i, i});
        units.back().weight += graph.weight[light.lps[i]];
        units.back().last = i + 1;
    }
    return units;
}

}  // namespace

std::vector<std::uint32_t> assign_blocks(LpGraph const& graph, PartitionOptions const& options) {
    // Splitting blocks must win this much balance to be worth the edges it cuts.
    constexpr double tolerated = 1.10;
    auto const total = std::accumulate(graph.weight.begin(), graph.weight.end(), std::int64_t{0});
    std::vector<std::uint32_t> owner(graph.size()), heavy;
    Light light;
    for (std::uint32_t lp = 0; lp < graph.size(); ++lp)
        (graph.weight[lp] * 2 * options.processes > total ? heavy : light.lps).push_back(lp);

    // More than half a fair share in one LP: longest processing time first (Graham 1969), on the least loaded.
    std::sort(heavy.begin(), heavy.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.weight[a] != graph.weight[b] ? graph.weight[a] > graph.weight[b] : a < b;
    });
    std::vector<std::int64_t> load(options.processes, 0);
    for (auto const lp : heavy) {
        auto const least = std::min_element(load.begin(), load.end());
        owner[lp] = static_cast<std::uint32_t>(least - load.begin());
        *least += graph.weight[lp];
    }

    std::sort(light.lps.begin(), light.lps.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.block[a] != graph.block[b] ? graph.block[a] < graph.block[b] : a < b;
    });
    std::int64_t light_weight = 0;
    for (auto const lp : light.lps) light_weight += graph.weight[lp];
    light.quota = level_quotas(load, light_weight);

    auto whole = owner;
    deal(light,
         units_of(graph, light,
                  [](LpGraph const& g, std::uint32_t a, std::uint32_t b) { return g.block[a] == g.block[b]; }),
         whole);
    deal(light, units_of(graph, light, [](LpGraph const&, std::uint32_t, std::uint32_t) { return false; }), owner);
    auto const balance = [&](std::vector<std::uint32_t> const& candidate) {
        return partition_report(graph, candidate, options.processes).imbalance;
    };
    return balance(whole) <= tolerated * balance(owner) ? whole : owner;
}

}  // namespace orrery
