// SPDX-License-Identifier: Apache-2.0
// orrery resume: go on with a run that was stopped or killed, from its newest checkpoint, on any number of processes.
#include "apps/commands/command.hpp"
#include "apps/run/signals.hpp"
#include "io/timeline/part.hpp"

namespace orrery {

ExitCode resume_command(World const& world, ResumeArguments const& arguments) {
    watch_signals();
    Leg leg;
    leg.run = arguments.run;
    leg.from = find_checkpoint(world, leg.run);
    leg.earlier = legs_of(*leg.from);
    Job const job(leg.from->loaded);
    // A leg that was killed before its first checkpoint has left parts of the number that this one has.
    leg.prepare = [&] {
        remove_parts_from_leg(leg.run, leg.earlier.legs);
        remove_checkpoints_after(leg.run, leg.from->number);
    };
    return simulate_leg(world, job, leg, arguments);
}

}  // namespace orrery
