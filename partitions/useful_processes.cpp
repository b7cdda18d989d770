// SPDX-License-Identifier: Apache-2.0
#include "partitions/useful_processes.hpp"

#include "core/check.hpp"
#include "partitions/partition_methods.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

// Every number up to 16, then steps of a quarter: 20, 25, 31, ...
std::vector<std::uint32_t> candidates(std::size_t lps) {
    constexpr std::uint32_t most = 4096, all_up_to = 16;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t p = 1; p <= std::min<std::size_t>(lps, most); p += p < all_up_to ? 1 : p / 4)
        numbers.push_back(p);
    return numbers;
}

}  // namespace

double busiest_share(LpGraph const& graph, std::uint32_t processes) {
    if (processes == 1) return 1;
    auto const owner = assign_blocks(graph, {.processes = processes});
    return partition_report(graph, owner, processes).imbalance / processes;
}

std::uint32_t useful_processes(LpGraph const& graph) {
    std::vector<std::uint32_t> numbers = candidates(graph.size());
    std::vector<double> shares;
    std::size_t best = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        shares.push_back(busiest_share(graph, numbers[i]));
        if (numbers[i] * shares[i] <= 2 && shares[i] <= shares[best]) best = i;
    }
    for (std::size_t i = 0; i < best; ++i)
        if (shares[i] <= 1.1 * shares[best]) return numbers[i];
    return numbers.empty() ? 1 : numbers[best];
}

LpGraph measured_graph(LpGraph graph, std::span<std::uint32_t const> owner, std::span<double const> busy_s) {
    ORRERY_ENSURE(owner.size() == graph.size(), "{} owners of {} LPs", owner.size(), graph.size());
    std::vector<double> predicted(busy_s.size(), 0);
    for (std::size_t lp = 0; lp < graph.size(); ++lp) predicted[owner[lp]] += static_cast<double>(graph.weight[lp]);
    auto const total = std::accumulate(predicted.begin(), predicted.end(), 0.0);
    auto const busy = std::accumulate(busy_s.begin(), busy_s.end(), 0.0);
    if (busy <= 0) return graph;
    constexpr double parts = 1e12;  // weights are integers: of all work
    for (std::size_t lp = 0; lp < graph.size(); ++lp) {
        auto const process = owner[lp];
        auto const share = busy_s[process] > 0 ? busy_s[process] / busy / predicted[process] : 1 / total;
        graph.weight[lp] =
            std::max<std::int64_t>(1, std::llround(static_cast<double>(graph.weight[lp]) * share * parts));
    }
    return graph;
}

LpId heaviest_lp(LpGraph const& graph) {
    auto const heaviest = std::max_element(graph.weight.begin(), graph.weight.end());
    return LpId(static_cast<std::uint32_t>(heaviest - graph.weight.begin()));
}

}  // namespace orrery
