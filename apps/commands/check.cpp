// SPDX-License-Identifier: Apache-2.0
// orrery check: what a scenario means, without simulating it.
#include "apps/commands/command.hpp"
#include "apps/run/efficiency.hpp"
#include "apps/run/job.hpp"
#include "io/timeline/part_writer.hpp"

#include <fmt/format.h>

namespace orrery {
namespace {

void print_fabric(Fabric const& fabric) {
    auto const figures = fabric.figures();
    fmt::print("\n# fabric {}\nranks {}, switches {}, other nodes {}, links {} (each direction counts)\n",
               fabric.kind(), figures.ranks, figures.switches, figures.other_nodes, figures.links);
    for (auto const& c : figures.classes)
        fmt::print("  {:<28} {:>9} links of {}\n", c.link_class, c.links, to_string(c.rate));
    for (auto const& p : figures.paths)
        fmt::print("  {:<28} {:>9} shortest paths of {} hops, {}\n", p.between, p.shortest_paths, p.hops,
                   to_string(p.latency));
    for (auto const& t : figures.tiers)
        fmt::print("  {:<28} {} down, {} up, oversubscription {:.2f}:1\n", t.name, to_string(t.down), to_string(t.up),
                   t.oversubscription);
    // Large graphs are not searched.
    bool const several = figures.ranks > 1;
    fmt::print("  diameter {}, bisection {}\n",
               several && figures.diameter_hops == 0 ? "not counted" : fmt::format("{} hops", figures.diameter_hops),
               several && figures.bisection == Rate{} ? "not counted" : to_string(figures.bisection) + " one way");
}

void print_workload(Job const& job) {
    fmt::print("\n# workload\n{}network: {}, {}, {}\n", job.workload().description(), job.scenario().network().model(),
               job.sharing_text(), job.solvers_text());
}

void print_partition(Job const& job, CheckArguments const& arguments) {
    PartitionOptions const options{
        .method = arguments.partition, .processes = arguments.processes, .seed = job.scenario().seed()};
    auto const partition = make_partition(job.graph(), options, [&](LpId lp) { return job.lp_name(lp); });
    fmt::print("\n# partition over {} process{}\n{}\nlookahead of the model: {}\nadvice: {}\n", arguments.processes,
               arguments.processes == 1 ? "" : "es", partition.report.text, job.lookahead_reason(),
               predicted_advice(job));
}

// What the timeline holds in memory. Rows of operations, collectives and link bins leave it while the run goes on.
void print_streaming(Job const& job) {
    auto const detail = detail_named(job.scenario().output().detail());
    fmt::print("\n# streaming\nrows in memory: at most {} per process, however many there are\n",
               bytes_text(PartWriter::memory_bytes(detail)));
    fmt::print("{}", job.workload().end_rows_text(detail));
}

}  // namespace

ExitCode check_command(World const& world, CheckArguments const& arguments) {
    Job const job(load_scenario(arguments.input.scenario, arguments.input.sets));
    if (!world.root()) return ExitCode::complete;
    if (arguments.links) {
        for (std::uint32_t l = 0; l < job.fabric().links().size(); ++l) {
            auto const& link = job.fabric().links()[l];
            fmt::print("{} {} {}\n", job.fabric().link_name(LinkId{l}), to_string(link.rate), to_string(link.latency));
        }
        return ExitCode::complete;
    }
    fmt::print("# resolved scenario\n{}", resolved_text(job.loaded()));
    print_fabric(job.fabric());
    for (auto const& effect : job.degradations())
        fmt::print("  degraded: {} = {}: {} links, {} bundles\n", effect.where, effect.pattern, effect.links,
                   effect.bundles.size());
    print_workload(job);
    print_partition(job, arguments);
    auto const estimate = job.estimate();
    fmt::print("\n# estimate\nflows {}, events {}, operation rows {}, memory {}\n", estimate.flows, estimate.events,
               estimate.operation_rows, bytes_text(estimate.memory_bytes));
    if (job.scenario().network().model() == "flow")
        fmt::print(
            "flow model: up to {} transfers at once x {} B (less where they fold into classes: 200 B a class) + {} "
            "links x {} B = {}\n",
            estimate.flows_at_once, estimate.flow_bytes, estimate.flow_links, estimate.flow_link_bytes,
            bytes_text(estimate.solver_bytes()));
    print_streaming(job);
    for (auto const& text : job.loaded().ignored) fmt::print("ignored: {}\n", text);
    for (auto const& text : job.warnings()) fmt::print("warning: {}\n", text);
    return ExitCode::complete;
}

}  // namespace orrery
