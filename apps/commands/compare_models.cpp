// SPDX-License-Identifier: Apache-2.0
// orrery compare-models: one scenario under the flow model and under the packet model, side by side.
#include "apps/commands/command.hpp"
#include "apps/run/job.hpp"
#include "apps/run/no_timeline.hpp"
#include "apps/run/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

struct ModelRun {
    OperationStatistics statistics;
    Simulation::Share share;
    double cpu_s = 0;
    std::string settings;
};

ModelRun run_model(ScenarioArguments const& arguments, std::string const& model) {
    auto sets = arguments.sets;
    sets.push_back("network.model=" + model);
    Job const job(load_scenario(arguments.scenario, sets));
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    NoTimeline nowhere;
    Simulation simulation(job, owner, alone, nowhere, {});
    auto const started = cpu_seconds();
    simulation.run();
    ModelRun run{.statistics = simulation.sink().statistics(),
                 .share = simulation.share(),
                 .cpu_s = cpu_seconds() - started,
                 .settings = job.sharing_text()};
    if (run.share.unfinished_ranks > 0) {
        std::string text;
        for (auto const& line : simulation.waiting()) text += "\n  " + line;
        throw IncompleteError(fmt::format("the workload cannot finish under the {} model:{}", model, text));
    }
    return run;
}

std::string difference(double packet, double flow) {
    return flow > 0 ? fmt::format("{:+.1f}%", (packet / flow - 1) * 100) : std::string{"-"};
}

void print_row(std::string const& name, Time flow, Time packet) {
    fmt::print("{:<26} {:>12} {:>12} {:>8}\n", name, to_string(flow), to_string(packet),
               difference(packet.seconds(), flow.seconds()));
}

void print_links(Job const& job, ModelRun const& flow, ModelRun const& packet) {
    auto const bundles = job.fabric().bundles();
    auto const& tables = packet.share.packets->tables;
    auto const utilisation = [&](std::int64_t bytes, std::size_t b, ModelRun const& run) {
        auto const span = run.share.last_finish.seconds() * bundles[b].capacity.bytes_per_s();
        return span > 0 ? static_cast<double>(bytes) / span : 0.0;
    };
    std::vector<std::size_t> hot;
    for (std::size_t b = 0; b < bundles.size(); ++b)
        if (flow.share.bundle_bytes[b] > 0) hot.push_back(b);
    auto const shown = std::min<std::size_t>(hot.size(), 10);
    std::partial_sort(hot.begin(), hot.begin() + static_cast<std::ptrdiff_t>(shown), hot.end(),
                      [&](std::size_t a, std::size_t b) {
                          auto const ua = utilisation(flow.share.bundle_bytes[a], a, flow);
                          auto const ub = utilisation(flow.share.bundle_bytes[b], b, flow);
                          return ua != ub ? ua > ub : a < b;
                      });
    fmt::print("\n{:<26} {:>12} {:>12} {:>8} {:>12}\n", "hot link, mean use", "flow", "packet", "differ", "max queue");
    for (std::size_t i = 0; i < shown; ++i) {
        auto const b = hot[i];
        auto const f = utilisation(flow.share.bundle_bytes[b], b, flow);
        auto const p = utilisation(tables.sent_bytes[b], b, packet);
        fmt::print("{:<26} {:>11.1f}% {:>11.1f}% {:>8} {:>12}\n",
                   job.fabric().bundle_name(BundleId{static_cast<std::uint32_t>(b)}), f * 100, p * 100,
                   difference(p, f), bytes_text(tables.max_queue_bytes[b]));
    }
}

}  // namespace

ExitCode compare_models_command(World const& world, ScenarioArguments const& arguments) {
    if (!world.root()) return ExitCode::complete;
    Job const job(load_scenario(arguments.scenario, arguments.sets));
    auto const flow = run_model(arguments, "flow");
    auto const packet = run_model(arguments, "packet");
    fmt::print("{}\nflow:   {}, {:.2f} CPU s\npacket: {}, {} packet-hops, {:.2f} CPU s\n\n", job.scenario().name(),
               flow.settings, flow.cpu_s, packet.settings, packet.share.packets->counters.hops, packet.cpu_s);
    fmt::print("{:<26} {:>12} {:>12} {:>8}\n", "operation", "flow", "packet", "differ");
    for (int k = 0; k < op_kind_count; ++k) {
        auto const kind = static_cast<OpKind>(k);
        if (flow.statistics.count(kind) == 0) continue;
        auto const& f = flow.statistics;
        auto const& p = packet.statistics;
        print_row(fmt::format("{} mean", name_of(kind)), f.mean(kind), p.mean(kind));
        if (kind != OpKind::dispatch && kind != OpKind::combine) continue;
        print_row(fmt::format("{} without waiting", name_of(kind)), f.mean(kind) - f.wait_mean(kind),
                  p.mean(kind) - p.wait_mean(kind));
        print_row(fmt::format("{} p99", name_of(kind)), f.quantile(kind, 99), p.quantile(kind, 99));
    }
    print_row("step", flow.share.last_finish, packet.share.last_finish);
    print_links(job, flow, packet);
    auto const& c = packet.share.packets->counters;
    fmt::print("\npackets: {} injected = {} delivered + {} dropped; {} marked, {} pauses, {} sent again\n", c.injected,
               c.delivered, c.dropped, c.marks, c.pauses, c.retransmitted);
    return ExitCode::complete;
}

}  // namespace orrery
