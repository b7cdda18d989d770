// SPDX-License-Identifier: Apache-2.0
// What the processes of a run did with their time, and how many of them would have been enough.
#pragma once

#include "apps/run/job.hpp"
#include "apps/run/process_status.hpp"
#include "core/window_loop.hpp"
#include "io/summary/summary.hpp"

#include <span>
#include <string>

namespace orrery {

// On process 0. `all` has one entry per process.
Summary::Parallel efficiency(Job const& job, Partition const& partition, RunOutcome const& outcome,
                             std::span<ProcessStatus const> all);

// "3 processes would be as fast". With the busy times B(p) dealt to the LPs (measured_graph), f(Q) = busiest_share for
// Q processes and S the time that the busiest process spent in exchanges, a run on Q processes takes T(Q) = f(Q) sum B
// + (Q > 1 ? S : 0). As fast is what is within a tenth of the T(P) of this run.
std::string process_advice(Job const& job, Partition const& partition, std::span<ProcessStatus const> all);

// The same before a run, from predicted weights alone.
std::string predicted_advice(Job const& job);

}  // namespace orrery
