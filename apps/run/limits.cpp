// SPDX-License-Identifier: Apache-2.0
#include "apps/run/limits.hpp"

#include <sys/resource.h>

#include <chrono>

namespace orrery {
namespace {

// Initialised before main(): the time that MPI takes to start counts.
auto const program_start = std::chrono::steady_clock::now();

}  // namespace

double program_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_start).count();
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto const seconds = [](timeval t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::int64_t peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace orrery
