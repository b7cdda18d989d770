// SPDX-License-Identifier: Apache-2.0
#include "apps/run/efficiency.hpp"

#include "partitions/useful_processes.hpp"

#include <algorithm>

namespace orrery {
namespace {

std::string count_text(std::uint32_t processes) {
    return processes == 1 ? "1 process" : fmt::format("{} processes", processes);
}

// "up to 12 processes are useful: the busiest then has 9.1 % of the work, sn0.ub alone 8.0 %"
std::string useful_text(Job const& job, LpGraph const& graph) {
    auto const useful = useful_processes(graph);
    auto const heaviest = heaviest_lp(graph);
    std::int64_t total = 0;
    for (auto const weight : graph.weight) total += weight;
    auto const alone = static_cast<double>(graph.weight[heaviest.index()]) / static_cast<double>(total);
    auto const name = job.lp_name(heaviest);
    if (useful == 1)
        return fmt::format("more than 1 process is of no use: {} has {:.0f} % of the work", name, alone * 100);
    return fmt::format("up to {} are useful: the busiest then has {:.1f} % of the work, {} alone {:.1f} %",
                       count_text(useful), busiest_share(graph, useful) * 100, name, alone * 100);
}

}  // namespace

std::string process_advice(Job const& job, Partition const& partition, std::span<ProcessStatus const> all) {
    std::vector<double> busy;
    for (auto const& process : all) busy.push_back(process.busy_s + process.write_s);
    auto const graph = measured_graph(job.graph(), partition.owner, busy);
    auto const more = useful_text(job, graph);
    auto const processes = static_cast<std::uint32_t>(all.size());
    if (processes == 1) return more;

    auto const busiest = static_cast<std::size_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    double work = 0;
    for (auto const seconds : busy) work += seconds;
    auto const exchanges = all[busiest].sync_s;
    auto const now = busy[busiest] + exchanges;
    auto const time_of = [&](std::uint32_t p) { return busiest_share(graph, p) * work + (p > 1 ? exchanges : 0); };
    for (std::uint32_t p = 1; p < processes; p = p < 16 ? p + 1 : p + p / 4)
        if (time_of(p) <= 1.1 * now)
            return fmt::format("{} would be as fast ({:.3g} s busy and waiting against {:.3g} s); {}", count_text(p),
                               time_of(p), now, more);
    return fmt::format("all {} are put to use; {}", count_text(processes), more);
}

std::string predicted_advice(Job const& job) {
    return useful_text(job, job.graph());
}

Summary::Parallel efficiency(Job const& job, Partition const& partition, RunOutcome const& outcome,
                             std::span<ProcessStatus const> all) {
    Summary::Parallel parallel;
    for (auto const& process : all)
        parallel.processes.push_back(
            {process.events, process.busy_s, process.sync_s, process.write_s, process.memory_bytes});
    parallel.lookahead_s = job.lookahead().seconds();
    parallel.lookahead_reason = job.lookahead_reason();
    for (auto const& edge : partition.report.limiting)
        parallel.limiting.push_back(fmt::format("{} - {}", job.lp_name(edge.a), job.lp_name(edge.b)));
    parallel.events_per_window =
        outcome.windows > 0 ? static_cast<double>(outcome.events) / static_cast<double>(outcome.windows) : 0;
    parallel.busy_imbalance = busy_imbalance(all);
    parallel.sync_share = sync_share(all);
    parallel.advice = process_advice(job, partition, all);
    return parallel;
}

}  // namespace orrery
