// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/launch_options.hpp"

#include "apps/run/deadline.hpp"
#include "core/check.hpp"
#include "io/scenario/quantity.hpp"

namespace orrery {
namespace {

using quantity::Dimension;

enum class Least : std::uint8_t { zero, positive };

std::int64_t parse(std::string const& option, std::string const& text, Dimension dimension, char const* like,
                   Least least = Least::positive) {
    auto const parsed = quantity::parse_integer(dimension, text, like);
    bool const large_enough = parsed && *parsed.value >= (least == Least::zero ? 0 : 1);
    ORRERY_VALIDATE(large_enough, "{} {} ({}) {}", option, text, parsed ? "must be positive" : parsed.refusal.reason,
                    parsed ? "" : parsed.refusal.fix);
    return *parsed.value;
}

double parse_seconds(std::string const& option, std::string const& text, char const* like,
                     Least least = Least::positive) {
    return static_cast<double>(parse(option, text, Dimension::time, like, least)) * 1e-12;
}

}  // namespace

void LaunchOptions::add_to(CLI::App& command, LaunchArguments& a) {
    command.add_flag("--quiet", a.quiet, "Print nothing but errors");
    command.add_flag("--progress", a.progress, "Progress lines even when stderr is not a terminal");
    command.add_option("--partition", a.partition, "blocks, metis, round_robin or random; never changes a result");
    command.add_option("--window", a.window, "Window width, at most the lookahead; never changes a result");
    command.add_option("--until", until_, "Stop at this simulated time, e.g. 10ms");
    command.add_option("--walltime", walltime_,
                       "Have ended by this wall-clock time, files written: 600s or HH:MM:SS. The end of a Slurm job is "
                       "known without it");
    command.add_option("--max-events", a.limits.max_events, "Stop after this many events");
    command.add_option("--memory-limit", memory_limit_, "Stop when a process exceeds its equal share of it, e.g. 4GiB");
    command.add_option("--stall-limit", stall_limit_,
                       "Give up when no operation has ended for this long in simulated time (default: 600s)");
    command.add_option("--hang-limit", hang_limit_,
                       "Abort when another process has not been heard of for this long (default: 600s)");
    command.add_option("--flush-interval", flush_interval_,
                       "Make the timeline so far survive a kill after this wall-clock time (default: 10s)");
    command.add_option("--flush-bytes", flush_bytes_, "... or after so many bytes of rows (default: 256MiB)");
    command.add_option("--checkpoint-interval", checkpoint_interval_,
                       "Take a checkpoint after this wall-clock time; 0: only when the run stops (default: 600s)");
    command.add_option("--checkpoint-every", checkpoint_every_, "... and after this simulated time, e.g. 1ms");
    command.add_option("--checkpoint-windows", a.checkpoints.windows, "... and after so many windows");
}

void LaunchOptions::apply(LaunchArguments& a) const {
    if (!until_.empty()) a.limits.until = Time::from_ps(parse("--until", until_, Dimension::time, "10ms"));
    if (!walltime_.empty()) a.limits.walltime_s = parse_walltime("--walltime", walltime_);
    if (!stall_limit_.empty())
        a.limits.stall = Time::from_ps(parse("--stall-limit", stall_limit_, Dimension::time, "600s"));
    if (!hang_limit_.empty()) a.hang_limit_s = parse_walltime("--hang-limit", hang_limit_);
    if (!memory_limit_.empty()) a.limits.memory_bytes = parse("--memory-limit", memory_limit_, Dimension::size, "4GiB");
    if (!flush_interval_.empty()) a.flush.interval_s = parse_seconds("--flush-interval", flush_interval_, "10s");
    if (!flush_bytes_.empty()) a.flush.bytes = parse("--flush-bytes", flush_bytes_, Dimension::size, "256MiB");
    if (!checkpoint_interval_.empty())
        a.checkpoints.interval_s = parse_seconds("--checkpoint-interval", checkpoint_interval_, "60s", Least::zero);
    if (!checkpoint_every_.empty())
        a.checkpoints.every = Time::from_ps(parse("--checkpoint-every", checkpoint_every_, Dimension::time, "1ms"));
    ORRERY_VALIDATE(a.checkpoints.windows >= 0, "--checkpoint-windows {} (must be positive)", a.checkpoints.windows);
}

}  // namespace orrery
