// SPDX-License-Identifier: Apache-2.0
// What may end a run early, and how much the run has used so far.
#pragma once

#include "core/units.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace orrery {

struct RunLimits {
    std::optional<double> walltime_s;          // of program_seconds(): the run has ended by then
    std::optional<std::int64_t> memory_bytes;  // of all processes; each may use an equal share
    std::optional<std::int64_t> max_events;
    Time until = Time::infinity();
    Time stall = Time::from_ps(600'000'000'000'000);  // simulated, without the end of any operation: a livelock
};

double cpu_seconds();              // of this process, user and system
std::int64_t peak_memory_bytes();  // of this process, highest so far

double program_seconds();  // wall clock since this program started

class WallClock {
  public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace orrery
