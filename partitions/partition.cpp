// SPDX-License-Identifier: Apache-2.0
#include "partitions/partition.hpp"

#include "core/check.hpp"
#include "core/random.hpp"
#include "partitions/partition_methods.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

struct Method {
    char const* name;
    std::vector<std::uint32_t> (*assign)(LpGraph const&, PartitionOptions const&);
};

std::vector<std::uint32_t> assign_round_robin(LpGraph const& graph, PartitionOptions const& options) {
    std::vector<std::uint32_t> owner(graph.size());
    for (std::size_t lp = 0; lp < owner.size(); ++lp) owner[lp] = static_cast<std::uint32_t>(lp % options.processes);
    return owner;
}

std::vector<std::uint32_t> assign_random(LpGraph const& graph, PartitionOptions const& options) {
    std::vector<std::uint32_t> owner(graph.size());
    for (std::size_t lp = 0; lp < owner.size(); ++lp)
        owner[lp] = RandomSequence(options.seed, RandomStream::placement, lp).below(options.processes);
    return owner;
}

constexpr std::array methods = {Method{"blocks", assign_blocks}, Method{"metis", assign_metis},
                                Method{"random", assign_random}, Method{"round_robin", assign_round_robin}};

std::string edge_text(LpEdge const& edge, std::function<std::string(LpId)> const& name) {
    return fmt::format("{} - {}", name(edge.a), name(edge.b));
}

std::string text_of(PartitionReport const& report, PartitionOptions const& options, std::size_t lps,
                    std::function<std::string(LpId)> const& name) {
    auto text = fmt::format("{} LPs on {} process{} by {}: imbalance {:.3f}", lps, options.processes,
                            options.processes == 1 ? "" : "es", options.method, report.imbalance);
    if (report.empty_processes > 0) text += fmt::format(", {} without any LP", report.empty_processes);
    if (report.cut_edges == 0) return text + ", nothing cut";
    text += fmt::format(", {} edge{} cut, lookahead {}\n", report.cut_edges, report.cut_edges == 1 ? "" : "s",
                        to_string(report.lookahead));
    std::vector<std::string> limits;
    for (auto const& edge : report.limiting) limits.push_back(edge_text(edge, name));
    return text + fmt::format("lookahead limited by {}", fmt::join(limits, ", "));
}

}  // namespace

std::vector<std::string> partition_methods() {
    std::vector<std::string> names;
    for (auto const& method : methods) names.emplace_back(method.name);
    return names;
}

PartitionReport partition_report(LpGraph const& graph, std::vector<std::uint32_t> const& owner,
                                 std::uint32_t processes) {
    PartitionReport report;
    report.process_weight.assign(processes, 0);
    std::vector<std::uint32_t> members(processes, 0);
    std::int64_t total = 0;
    for (std::size_t lp = 0; lp < graph.size(); ++lp) {
        report.process_weight[owner[lp]] += graph.weight[lp];
        total += graph.weight[lp];
        ++members[owner[lp]];
    }
    report.empty_processes = static_cast<std::uint32_t>(std::count(members.begin(), members.end(), 0U));
    auto const largest = *std::max_element(report.process_weight.begin(), report.process_weight.end());
    if (total > 0) report.imbalance = static_cast<double>(largest) * processes / static_cast<double>(total);
    for (auto const& edge : graph.edges) {
        if (owner[edge.a.index()] == owner[edge.b.index()]) continue;
        ++report.cut_edges;
        report.cut_weight += edge.weight;
        if (edge.latency < report.lookahead) {
            report.lookahead = edge.latency;
            report.limiting.clear();
        }
        if (edge.latency == report.lookahead && report.limiting.size() < 3) report.limiting.push_back(edge);
    }
    return report;
}

Partition make_partition(LpGraph const& graph, PartitionOptions const& options,
                         std::function<std::string(LpId)> const& name) {
    auto const method = std::find_if(methods.begin(), methods.end(),
                                     [&](Method const& candidate) { return candidate.name == options.method; });
    ORRERY_VALIDATE(method != methods.end(), "partition method is \"{}\" (unknown); choose one of {}", options.method,
                    fmt::join(partition_methods(), ", "));
    ORRERY_ENSURE(options.processes > 0 && graph.block.size() == graph.size(),
                  "partition of {} LPs with {} block ids over {} processes", graph.size(), graph.block.size(),
                  options.processes);
    for (auto const weight : graph.weight) ORRERY_ENSURE(weight > 0, "an LP weighs {}", weight);
    for (auto const& edge : graph.edges)
        ORRERY_ENSURE(edge.a.index() < graph.size() && edge.b.index() < graph.size(),
                      "an edge joins LPs {} and {} of {}", edge.a.value(), edge.b.value(), graph.size());

    Partition result;
    result.owner =
        options.processes == 1 ? std::vector<std::uint32_t>(graph.size(), 0) : method->assign(graph, options);
    result.report = partition_report(graph, result.owner, options.processes);
    ORRERY_VALIDATE(
        result.report.lookahead > Time{},
        "the partition cuts {} (latency 0 gives processes no lookahead); give that link a latency or choose "
        "partition method \"metis\", which keeps its ends together",
        edge_text(result.report.limiting.front(), name));
    result.report.text = text_of(result.report, options, graph.size(), name);
    return result;
}

}  // namespace orrery
