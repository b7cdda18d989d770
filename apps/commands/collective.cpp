// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/collective.hpp"

#include "apps/run/job.hpp"
#include "apps/run/no_timeline.hpp"
#include "apps/run/schedule_workload.hpp"
#include "apps/run/simulation.hpp"
#include "io/scenario/problems.hpp"
#include "workloads/collectives/shape.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Keeps what collectives did, and nothing else.
class CollectiveRows final : public NoTimeline {
  public:
    using NoTimeline::add;
    void add(CollectiveRow const& row) override { rows.push_back(row); }

    std::vector<CollectiveRow> rows;  // one per domain
};

std::string replaced(std::string text, std::string const& old, std::string const& by) {
    for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
        text.replace(at, old.size(), by);
    return text;
}

// A fabric of the command line is a --set, as paths in those are looked for from the current directory; but the user
// wrote --fabric, and no file.
LoadedScenario load_fabric(std::string const& fabric, std::vector<std::string> sets) {
    std::string const path = fabric.starts_with("{") ? "fabric=" : "fabric.kind=";
    sets.insert(sets.begin(), path + fabric);
    auto const as_typed = [&](std::string const& text) {
        return replaced(text, "--set " + loader::shown(path + fabric), "--fabric " + loader::shown(fabric));
    };
    try {
        auto loaded = load_scenario_text("workload: {kind: collective}\n", "--fabric", fs::current_path(), sets);
        for (auto& [key, place] : loaded.origin) place = as_typed(place);
        return loaded;
    } catch (InputError const& error) {
        throw InputError(as_typed(error.what()));
    }
}

bool is_file(std::string const& fabric) {
    if (fabric.starts_with("{")) return false;
    // What looks like a file and is not there is for the loader to refuse.
    return fabric.find('/') != std::string::npos || fabric.ends_with(".yaml") || fabric.ends_with(".yml") ||
           fs::is_regular_file(fabric);
}

LoadedScenario load(CollectiveArguments const& arguments, std::int64_t bytes) {
    std::vector<std::string> own = {"workload.kind=collective", fmt::format("workload.collective.bytes={}B", bytes),
                                    "workload.collective.repeat=1"};
    auto const give = [&](char const* path, auto const& value) {
        if (value) own.push_back(fmt::format("{}={}", path, *value));
    };
    give("network.model", arguments.model);
    give("workload.collective.op", arguments.op);
    give("workload.collective.ranks", arguments.ranks);
    give("workload.collective.root", arguments.root);
    give("workload.collective.algorithm", arguments.algorithm);
    give("workload.collective.protocol", arguments.protocol);
    auto sets = own;
    // Nobody reads the bins of links here, and a long collective has very many.
    sets.emplace_back("output.link_bin=1000s");
    sets.insert(sets.end(), arguments.sets.begin(), arguments.sets.end());
    auto loaded =
        is_file(arguments.fabric) ? load_scenario(arguments.fabric, sets) : load_fabric(arguments.fabric, sets);
    for (auto const& set : own) {
        auto const path = set.substr(0, set.find('='));
        auto const& origin = loaded.origin.at(path);
        ORRERY_VALIDATE(origin == "--set " + loader::shown(set),
                        "{}: {} (the command or one of its options sets it: sizes are those of --sizes) leave this out",
                        origin, path);
    }
    return loaded;
}

std::string const& op_of(LoadedScenario const& loaded) {
    return loaded.scenario.workload().collective().op();
}

bool has_no_bytes(std::string const& op) {
    return collective_op_of(op) == CollectiveOp::barrier;
}

std::vector<std::int64_t> sizes_of(CollectiveArguments const& arguments) {
    auto const sizes = parse_sizes(arguments.sizes);
    return has_no_bytes(op_of(load(arguments, 0))) ? std::vector<std::int64_t>{0} : sizes;
}

void fill_bound(CollectiveLine& line, std::vector<CollectiveRow> const& rows, Fabric const& fabric) {
    line.bottleneck = "latency";
    for (auto const& row : rows) {
        if (row.bound < line.bound) continue;
        line.bound = row.bound;
        line.bottleneck =
            row.bound_bundle == no_bundle_binds ? "latency" : fabric.bundle_name(BundleId{row.bound_bundle});
    }
}

CollectiveLine measure(CollectiveArguments const& arguments, std::int64_t bytes) {
    Job const job(load(arguments, bytes));
    auto const& workload = dynamic_cast<ScheduleWorkload const&>(job.workload());
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    CollectiveRows seen;
    Simulation simulation(job, owner, alone, seen, {});
    simulation.run();
    auto const share = simulation.share();
    if (share.unfinished_ranks > 0) {
        std::string text;
        for (auto const& wait : simulation.waiting()) text += "\n  " + wait;
        throw IncompleteError(fmt::format("the collective cannot finish:{}", text));
    }
    auto const planned = workload.planner().plan(workload.wish(0), workload.placement());
    CollectiveLine line{.bytes = bytes,
                        .count = bytes / arguments.element_bytes,
                        .time = share.last_finish,
                        .algorithm = planned.algorithm,
                        .protocol = planned.protocol.name};
    fill_bound(line, seen.rows, job.fabric());
    ORRERY_ENSURE(line.time >= line.bound, "{} B take {} and no schedule could take less than {}", bytes,
                  to_string(line.time), to_string(line.bound));
    if (line.time > Time{}) line.algorithm_gb_per_s = static_cast<double>(bytes) / line.time.seconds() / 1e9;
    line.bus_gb_per_s = line.algorithm_gb_per_s * bus_factor(op_of(job.loaded()), job.ranks());
    return line;
}

// What the lines have in common, above the table; and why the algorithm was taken.
void print_head(CollectiveArguments const& arguments, std::int64_t bytes) {
    Job const job(load(arguments, bytes));
    auto const& workload = dynamic_cast<ScheduleWorkload const&>(job.workload());
    auto const planned = workload.planner().plan(workload.wish(0), workload.placement());
    fmt::print("# {} of {} ranks on {}, {} model\n", name_of(collective_op_of(op_of(job.loaded()))), job.ranks(),
               job.fabric().kind(), job.network_text());
    fmt::print("# {} at {}: {}\n# {}\n", planned.algorithm, bytes_text(bytes), planned.reason,
               planned.plan->closed_form().text);
    if (has_no_bytes(op_of(job.loaded()))) fmt::print("# a barrier has no bytes: sizes have no effect\n");
    for (auto const& ignored : job.loaded().ignored) fmt::print("# {}\n", ignored);
    fmt::print("#{:>13} {:>12} {:>12} {:>9} {:>9} {:>12} {:>6}  {:<26} {}\n", "size", "count", "time", "algbw", "busbw",
               "bound", "of it", "bottleneck", "algorithm");
    fmt::print("#{:>13} {:>12} {:>12} {:>9} {:>9} {:>12}\n", "(B)", "(elements)", "(us)", "(GB/s)", "(GB/s)", "(us)");
}

void print(CollectiveLine const& line) {
    auto const us = [](Time time) { return time.seconds() * 1e6; };
    auto const of_bound = line.time > Time{} ? fmt::format("{:.0f}%", 100 * us(line.bound) / us(line.time)) : "-";
    fmt::print("{:>14} {:>12} {:>12.3f} {:>9.2f} {:>9.2f} {:>12.3f} {:>6}  {:<26} {}{}\n", line.bytes, line.count,
               us(line.time), line.algorithm_gb_per_s, line.bus_gb_per_s, us(line.bound), of_bound, line.bottleneck,
               line.algorithm, line.protocol == "none" ? "" : " " + line.protocol);
}

}  // namespace

double bus_factor(std::string const& op, std::uint32_t members) {
    if (members < 2) return 0;
    double const others = (members - 1.0) / members;
    switch (collective_op_of(op)) {
        case CollectiveOp::all_reduce:
            return 2 * others;
        case CollectiveOp::broadcast:
        case CollectiveOp::reduce:
        case CollectiveOp::send_recv:
            return 1;
        default:
            return others;
    }
}

std::vector<CollectiveLine> measure_collective(CollectiveArguments const& arguments) {
    std::vector<CollectiveLine> lines;
    for (auto const bytes : sizes_of(arguments)) lines.push_back(measure(arguments, bytes));
    return lines;
}

ExitCode collective_command(World const& world, CollectiveArguments const& arguments) {
    if (!world.root()) return ExitCode::complete;
    auto const sizes = sizes_of(arguments);
    print_head(arguments, sizes.back());
    for (auto const bytes : sizes) print(measure(arguments, bytes));
    return ExitCode::complete;
}

}  // namespace orrery
