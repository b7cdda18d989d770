// SPDX-License-Identifier: Apache-2.0
// How the program ends: stable, documented in README.md.
#pragma once

namespace orrery {

enum class ExitCode : int {
    complete = 0,
    internal_error = 1,
    bad_input = 2,
    incomplete = 3,  // deadlocked workload, or a transfer on a dead link
    stopped = 4,     // by a limit or a signal
    memory = 5,      // out of the memory limit
};

}  // namespace orrery
