// SPDX-License-Identifier: Apache-2.0
// orrery run: simulate a scenario, stream its timeline, say what limits it.
#include "apps/commands/command.hpp"
#include "apps/run/report.hpp"
#include "apps/run/signals.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/timeline/about.hpp"
#include "io/timeline/merge.hpp"

#include <cstdio>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// A directory that holds nothing, or only what an earlier run left and --force may replace.
void prepare_directory(fs::path const& out, RunArguments const& arguments) {
    std::error_code error;
    fs::create_directories(out, error);
    ORRERY_VALIDATE(!error, "cannot create {} ({}) choose another --out", out.string(), error.message());
    std::vector<std::string> found;
    for (auto const name : {"run.h5", "summary.json", "recovered.h5", "parts", "checkpoints"})
        if (fs::exists(out / name)) found.emplace_back(name);
    if (found.empty()) return;
    ORRERY_VALIDATE(
        arguments.force,
        "{} holds {} of an earlier run (a run never overwrites another) use --force or another --out{}", out.string(),
        fmt::join(found, " and "),
        published_checkpoints(out).empty() ? "" : fmt::format(", or go on with orrery resume {}", out.string()));
    for (auto const& name : found) fs::remove_all(out / name, error);
    remove_unfinished(out / "run.h5");
    ORRERY_VALIDATE(!error, "cannot replace {} ({})", out.string(), error.message());
    if (!arguments.quiet)
        fmt::print(stderr, "Replaced {} of an earlier run in {}.\n", fmt::join(found, " and "), out.string());
}

}  // namespace

ExitCode run_command(World const& world, RunArguments const& arguments) {
    watch_signals();
    Job const job(load_scenario(arguments.input.scenario, arguments.input.sets));
    // What a file of another tool became is known before anything is simulated.
    if (world.root() && !arguments.quiet && job.scenario().workload().kind() == "schedule")
        for (auto const& text : job.warnings()) fmt::print("{}\n", text);
    Leg leg;
    leg.run = arguments.out.empty() ? fs::path{arguments.input.scenario.stem().string() + ".out"} : arguments.out;
    leg.prepare = [&] {
        prepare_directory(leg.run, arguments);
        write_about(leg.run, make_manifest(job, arguments.command_line), fabric_tables(job));
    };
    return simulate_leg(world, job, leg, arguments);
}

}  // namespace orrery
