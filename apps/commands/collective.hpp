// SPDX-License-Identifier: Apache-2.0
// orrery collective: times of one operation over a range of sizes, without writing a scenario.
#pragma once

#include "apps/commands/command.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

// "8:1GiB:x2" (each twice the one before), "1MiB:4MiB:+1MiB", "0,8,1MiB": in the order given. Throws InputError.
std::vector<std::int64_t> parse_sizes(std::string const& text);

// One line of the table.
struct CollectiveLine {
    std::int64_t bytes = 0, count = 0;
    Time time, bound;
    std::string bottleneck;  // a link, or what else binds
    std::string algorithm, protocol;
    double algorithm_gb_per_s = 0, bus_gb_per_s = 0;  // 1e9 bytes
};

// The factor from algorithm to bus bandwidth of nccl-tests (doc/PERFORMANCE.md there).
double bus_factor(std::string const& op, std::uint32_t members);

// Simulates each size by itself, in this process.
std::vector<CollectiveLine> measure_collective(CollectiveArguments const& arguments);

}  // namespace orrery
