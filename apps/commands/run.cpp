// SPDX-License-Identifier: Apache-2.0
// orrery run: simulate a scenario, stream its timeline, say what limits it.
#include "apps/commands/command.hpp"
#include "apps/run/agree.hpp"
#include "apps/run/close_timeline.hpp"
#include "apps/run/flusher.hpp"
#include "apps/run/job.hpp"
#include "apps/run/report.hpp"
#include "apps/run/simulation.hpp"
#include "apps/run/signals.hpp"
#include "io/scenario/quantity.hpp"
#include "io/summary/screen.hpp"
#include "io/timeline/about.hpp"
#include "partitions/mpi_exchange.hpp"

#include <cstdio>
#include <unistd.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// A directory that holds nothing, or only what an earlier run left and --force may replace.
void prepare_directory(fs::path const& out, RunArguments const& arguments) {
    std::error_code error;
    fs::create_directories(out, error);
    ORRERY_VALIDATE(!error, "cannot create {} ({}) choose another --out", out.string(), error.message());
    std::vector<std::string> found;
    for (auto const name : {"run.h5", "summary.json", "recovered.h5", "parts"})
        if (fs::exists(out / name)) found.emplace_back(name);
    if (found.empty()) return;
    ORRERY_VALIDATE(arguments.force,
                    "{} holds {} of an earlier run (a run never overwrites another) use --force or another --out",
                    out.string(), fmt::join(found, " and "));
    for (auto const& name : found) fs::remove_all(out / name, error);
    remove_unfinished(out / "run.h5");
    ORRERY_VALIDATE(!error, "cannot replace {} ({})", out.string(), error.message());
    if (!arguments.quiet)
        fmt::print(stderr, "Replaced {} of an earlier run in {}.\n", fmt::join(found, " and "), out.string());
}

Progress progress_of(World const& world, RunArguments const& arguments) {
    if (!world.root() || arguments.quiet) return Progress::off;
    if (isatty(STDERR_FILENO)) return Progress::terminal;
    return arguments.progress ? Progress::lines : Progress::off;
}

Time window_of(RunArguments const& arguments, Job const& job) {
    if (arguments.window.empty()) return {};
    auto const parsed = quantity::parse_integer(quantity::Dimension::time, arguments.window, "1us");
    ORRERY_VALIDATE(static_cast<bool>(parsed), "--window {} ({}) {}", arguments.window, parsed.refusal.reason,
                    parsed.refusal.fix);
    auto const width = Time::from_ps(*parsed.value);
    ORRERY_VALIDATE(width > Time{} && width <= job.lookahead(),
                    "--window {} (must be positive and at most the lookahead) use at most {}", arguments.window,
                    to_string(job.lookahead()));
    return width;
}

ExitCode exit_code_of(RunOutcome const& outcome, bool complete) {
    switch (outcome.reason) {
        case StopReason::memory:
            return ExitCode::memory;
        case StopReason::finished:
            return complete ? ExitCode::complete : ExitCode::incomplete;
        default:
            return ExitCode::stopped;
    }
}

}  // namespace

ExitCode run_command(World const& world, RunArguments const& arguments) {
    WallClock const wall;
    watch_signals();
    Job const job(load_scenario(arguments.input.scenario, arguments.input.sets));
    auto const width = window_of(arguments, job);
    PartitionOptions const options{
        .method = arguments.partition, .processes = world.count(), .seed = job.scenario().seed()};
    auto const partition = make_partition(job.graph(), options, [&](LpId lp) { return job.lp_name(lp); });
    // Everything that may refuse the input stands above: a refused run touches nothing, not even with --force.
    auto const out =
        arguments.out.empty() ? fs::path{arguments.input.scenario.stem().string() + ".out"} : arguments.out;
    all_or_none(world, [&] {
        if (world.root()) prepare_directory(out, arguments);
    });
    auto const progress = progress_of(world, arguments);
    if (progress != Progress::off)
        fmt::print(stderr, "{}: {} ranks on {}, {} process{}\n", job.scenario().name(), job.ranks(),
                   job.fabric().kind(), world.count(), world.count() == 1 ? "" : "es");

    std::unique_ptr<PartWriter> part;
    all_or_none(world, [&] {
        if (world.root()) write_about(out, make_manifest(job, arguments.command_line), fabric_tables(job));
        part = std::make_unique<PartWriter>(PartSetup{.directory = out,
                                                      .process = world.index(),
                                                      .processes = world.count(),
                                                      .detail = detail_named(job.scenario().output().detail()),
                                                      .link_bin = Time::from_ps(job.scenario().output().link_bin())});
    });
    Flusher flusher(*part, arguments.flush);
    auto const exchange = make_exchange(world);
    Simulation simulation(
        job, partition.owner, *exchange, *part,
        {.limits = arguments.limits, .progress = progress, .window_width = width, .stream = [&](Time complete_until) {
             flusher.at_window(complete_until);
         }});
    RunOutcome outcome;
    try {
        outcome = simulation.run();
        all_or_none(world, [&] { part->close(simulation.complete_until()); });
    } catch (InputError const& error) {  // on every process alike
        auto const written = world.max(part->broken() ? 1 : 0);
        if (written) {
            hdf5::leave_all_open();
            throw InputError(fmt::format("{} orrery recover {} shows what was written", error.what(), out.string()));
        }
        part.reset();
        // What was refused leaves nothing behind.
        world.barrier();
        std::error_code ignored;
        if (world.root()) fs::remove_all(out / "parts", ignored);
        throw;
    }

    std::string waiting;
    for (auto const& line : simulation.waiting()) waiting += "  " + line + "\n";
    auto const waits = world.gather(outcome.reason == StopReason::finished ? waiting : std::string{});
    auto report =
        make_report(world, job, simulation, outcome, {.command = arguments.command_line, .wall_s = wall.seconds()});
    std::vector<PartSource> parts;
    for (std::uint32_t p = 0; p < world.count(); ++p) parts.push_back({part_path(out, 0, p)});
    close_timeline(world, parts, out / "run.h5", report.manifest, report.tables, PartsAfterwards::removed);
    all_or_none(world, [&] {
        if (!world.root()) return;
        report.summary.wall_s = wall.seconds();
        write_summary_json(out / "summary.json", report.summary);
    });
    auto const code = exit_code_of(outcome, world.broadcast(report.summary.complete ? "1" : "0") == "1");
    if (!world.root()) return code;
    for (auto const& text : waits)
        if (!text.empty()) fmt::print(stderr, "The workload cannot finish:\n{}", text);
    if (code == ExitCode::stopped || code == ExitCode::memory)
        fmt::print(stderr, "Stopped at {} simulated ({}); the timeline holds what was simulated until then.\n",
                   to_string(outcome.last), name_of(outcome.reason));
    if (!arguments.quiet)
        fmt::print("{}", render_screen(report.summary,
                                       {.scenario = job.scenario().name(), .output = (out / "run.h5").string()}));
    return code;
}

}  // namespace orrery
