// SPDX-License-Identifier: Apache-2.0
// One leg of a run: what one launch simulates, from the start or from a checkpoint, to the end or to a stop.
#pragma once

#include "apps/exit_codes.hpp"
#include "apps/run/checkpointer.hpp"
#include "apps/run/flusher.hpp"
#include "apps/run/job.hpp"
#include "apps/run/limits.hpp"
#include "partitions/wait.hpp"
#include "partitions/world.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace orrery {

// How a leg is run; none of it changes a result.
struct LaunchArguments {
    bool quiet = false;     // no screen
    bool progress = false;  // progress lines although stderr is no terminal
    std::string partition = "blocks";
    std::string window;  // a time; empty: the lookahead
    RunLimits limits;
    double hang_limit_s = default_hang_limit_s;
    FlushRules flush;
    CheckpointWish checkpoints;
    std::string command_line;
};

struct Leg {
    std::filesystem::path run;  // the directory
    EarlierLegs earlier;
    std::optional<CheckpointManifest> from;  // nothing: the start
    // On process 0, once nothing can be refused any more: makes the directory ready.
    std::function<void()> prepare;
};

// Collective. Leaves DIR/run.h5 and DIR/summary.json; a leg that was stopped leaves its parts and a checkpoint as well,
// and says how to go on.
ExitCode simulate_leg(World const& world, Job const& job, Leg const& leg, LaunchArguments const& arguments);

}  // namespace orrery
