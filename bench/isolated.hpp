// SPDX-License-Identifier: Apache-2.0
// Runs one case of a benchmark in a process of its own, so that its time and its peak memory are its own.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <unistd.h>

namespace orrery::bench {

struct Measured {
    bool ran = false;
    double cpu_s = 0;    // user CPU of the case and of what it started
    double peak_mb = 0;  // resident, of the largest process
    std::array<double, 6> values{};
};

// `body` fills values; it runs in a child, so nothing else of it comes back.
inline Measured isolated(std::function<void(std::array<double, 6>&)> const& body) {
    std::array<int, 2> ends{};
    Measured result;
    if (pipe(ends.data()) != 0) return result;
    auto const child = fork();
    if (child == 0) {
        std::array<double, 6> values{};
        body(values);
        bool const told = write(ends[1], values.data(), sizeof values) == static_cast<ssize_t>(sizeof values);
        std::_Exit(told ? 0 : 1);
    }
    close(ends[1]);
    auto const got = read(ends[0], result.values.data(), sizeof result.values);
    close(ends[0]);
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child) return result;
    result.ran = status == 0 && got == static_cast<ssize_t>(sizeof result.values);
    result.cpu_s = static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec);
    result.peak_mb = static_cast<double>(used.ru_maxrss) * 1024e-6;
    return result;
}

}  // namespace orrery::bench
