// SPDX-License-Identifier: Apache-2.0
#include "apps/run/leg.hpp"

#include "apps/run/agree.hpp"
#include "apps/run/close_timeline.hpp"
#include "apps/run/deadline.hpp"
#include "apps/run/report.hpp"
#include "io/scenario/quantity.hpp"
#include "io/summary/screen.hpp"
#include "partitions/mpi_exchange.hpp"

#include <cstdio>
#include <limits>
#include <unistd.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;

Progress progress_of(World const& world, LaunchArguments const& arguments) {
    if (!world.root() || arguments.quiet) return Progress::off;
    if (isatty(STDERR_FILENO)) return Progress::terminal;
    return arguments.progress ? Progress::lines : Progress::off;
}

Time window_of(LaunchArguments const& arguments, Job const& job) {
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

ExitCode exit_code_of(StopReason reason, bool complete) {
    switch (reason) {
        case StopReason::memory:
            return ExitCode::memory;
        case StopReason::finished:
            return complete ? ExitCode::complete : ExitCode::incomplete;
        default:
            return ExitCode::stopped;
    }
}

PartSetup part_setup(World const& world, Job const& job, Leg const& leg) {
    return {.directory = leg.run,
            .leg = leg.earlier.legs,
            .process = world.index(),
            .processes = world.count(),
            .detail = detail_named(job.scenario().output().detail()),
            .link_bin = Time::from_ps(job.scenario().output().link_bin()),
            .earlier = leg.earlier.sources(leg.run)};
}

std::vector<PartSource> all_parts(World const& world, Leg const& leg) {
    auto parts = leg.earlier.sources(leg.run);
    for (std::uint32_t p = 0; p < world.count(); ++p) parts.push_back({part_path(leg.run, leg.earlier.legs, p)});
    return parts;
}

// The loop, from wherever the leg begins. A run whose input turns out to be bad leaves nothing behind.
RunOutcome run_loop(World const& world, Leg const& leg, Simulation& simulation) {
    try {
        if (!leg.from) return simulation.loop().run();
        std::optional<StateFiles> files;
        all_or_none(world, [&] {
            files.emplace(state_files(leg.run, *leg.from));
            for (std::uint32_t p = 0; p < leg.from->processes && world.root(); ++p) simulation.add_sums(*files, p);
        });
        return simulation.run_from(
            *files,
            {.windows = leg.from->windows, .events = leg.from->events, .last = Time::from_ps(leg.from->simulated_ps)});
    } catch (StorageError const&) {
        throw;
    } catch (InputError const&) {  // on every process alike
        if (leg.from) throw;
        world.barrier();
        std::error_code ignored;
        if (world.root()) fs::remove_all(leg.run / "parts", ignored);
        throw;
    }
}

// The user's limits, and the end of the Slurm job if that comes earlier; process 0 asks for all.
RunLimits limits_of(World const& world, LaunchArguments const& arguments) {
    auto limits = arguments.limits;
    auto const left = world.root() ? slurm_seconds_left() : std::nullopt;
    auto const end = world.broadcast(left ? fmt::format("{}", program_seconds() + *left) : std::string{});
    if (!end.empty()) limits.walltime_s = std::min(std::stod(end), limits.walltime_s.value_or(std::stod(end)));
    return limits;
}

// Collective. What the unfinished ranks of all processes wait for, on process 0.
std::string waiting_text(World const& world, Simulation const& simulation) {
    std::string mine, all;
    for (auto const& line : simulation.waiting()) mine += "  " + line + "\n";
    for (auto const& text : world.gather(mine)) all += text;
    return all;
}

// What to do with a run whose storage failed.
std::string what_is_left(fs::path const& run) {
    return published_checkpoints(run).empty()
               ? fmt::format("orrery recover {} shows what was written", run.string())
               : fmt::format("orrery resume {} goes on from the last checkpoint", run.string());
}

void say_stopped(Leg const& leg, RunOutcome const& outcome) {
    fmt::print(stderr,
               "Stopped at {} simulated ({}); the timeline holds what was simulated until then.\nTo go on: orrery "
               "resume {}\n",
               to_string(outcome.last), name_of(outcome.reason), leg.run.string());
}

}  // namespace

ExitCode simulate_leg(World const& world, Job const& job, Leg const& leg, LaunchArguments const& arguments) {
    auto const width = window_of(arguments, job);
    PartitionOptions const options{
        .method = arguments.partition, .processes = world.count(), .seed = job.scenario().seed()};
    auto const partition = make_partition(job.graph(), options, [&](LpId lp) { return job.lp_name(lp); });
    // Everything that may refuse the input stands above: a refused run touches nothing, not even with --force.
    all_or_none(world, [&] {
        if (world.root()) leg.prepare();
    });
    auto const progress = progress_of(world, arguments);
    if (progress != Progress::off)
        fmt::print(stderr, "{}: {} ranks on {}, {} process{}\n", job.scenario().name(), job.ranks(),
                   job.fabric().kind(), world.count(), world.count() == 1 ? "" : "es");

    std::unique_ptr<PartWriter> part;
    all_or_none(world, [&] { part = std::make_unique<PartWriter>(part_setup(world, job, leg)); });
    Flusher flusher(*part, arguments.flush);
    Checkpointer checkpointer(world, job, leg.run, leg.earlier, arguments.checkpoints);
    auto const writing = [&] {
        return WriteSeconds{.within_busy = part->chunk_seconds(), .beside = flusher.seconds() + checkpointer.seconds()};
    };
    auto const exchange = make_exchange(world);
    std::optional<Simulation> simulation;
    Simulation::Options const options_of_run{
        .limits = limits_of(world, arguments),
        .progress = progress,
        .window_width = width,
        .earlier_rows = leg.earlier.rows(),
        .stream = [&](Time complete_until) { flusher.at_window(complete_until); },
        .checkpoint_due = [&](WindowStatus const& status) { return checkpointer.due(status); },
        .checkpoint = [&] { checkpointer.take(*simulation, *part); },
        .checkpoint_cost_s = [&] { return checkpointer.cost_s(); },
        .writing = writing,
        .gather = [&](ProcessStatus const& mine) { return ProcessStatus::from_words(world.gather(mine.words())); }};
    all_or_none(world, [&] { simulation.emplace(job, partition.owner, *exchange, *part, options_of_run); });
    RunOutcome outcome;
    bool finished = false;
    try {
        outcome = run_loop(world, leg, *simulation);
        finished = outcome.reason == StopReason::finished;
        // Before close(), which adds rows of what is still going on.
        if (!finished) checkpointer.take(*simulation, *part);
        all_or_none(world, [&] {
            outcome = simulation->close();
            part->close(simulation->complete_until());
        });
    } catch (StorageError const& error) {  // on every process alike, like the other one
        hdf5::leave_all_open();
        throw StorageError(fmt::format("{} {}", error.what(), what_is_left(leg.run)));
    } catch (IncompleteError const& error) {
        all_or_none(world, [&] { part->close(simulation->complete_until()); });
        throw IncompleteError(fmt::format("{}\n{}What was simulated until then: orrery recover {}", error.what(),
                                          waiting_text(world, *simulation), leg.run.string()));
    }

    auto const waits = finished ? waiting_text(world, *simulation) : std::string{};
    auto report = make_report(world, job, partition, *simulation, outcome,
                              {.command = arguments.command_line,
                               .wall_s = program_seconds(),
                               .earlier_wall_s = leg.earlier.wall_s,
                               .earlier_cpu_s = leg.earlier.cpu_s});
    world.set_hang_limit(std::numeric_limits<double>::infinity());  // the others may have little to merge
    close_timeline(world, all_parts(world, leg), leg.run / "run.h5", report.manifest, report.tables);
    all_or_none(world, [&] {
        if (!world.root()) return;
        report.summary.wall_s = leg.earlier.wall_s + program_seconds();
        write_summary_json(leg.run / "summary.json", report.summary);
        if (!finished) return;
        // Last, so that a kill before leaves what a resume or a recovery needs.
        remove_checkpoints(leg.run);
        std::error_code ignored;
        fs::remove_all(leg.run / "parts", ignored);
    });
    auto const code = exit_code_of(outcome.reason, world.broadcast(report.summary.complete ? "1" : "0") == "1");
    if (!world.root()) return code;
    if (!waits.empty()) fmt::print(stderr, "The workload cannot finish:\n{}", waits);
    if (!finished) say_stopped(leg, outcome);
    if (!arguments.quiet)
        fmt::print("{}", render_screen(report.summary,
                                       {.scenario = job.scenario().name(), .output = (leg.run / "run.h5").string()}));
    return code;
}

}  // namespace orrery
