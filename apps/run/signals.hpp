// SPDX-License-Identifier: Apache-2.0
// Signals become bits that the window loop carries to all processes.
#pragma once

#include <cstdint>

namespace orrery {

// SIGTERM and SIGINT ask for the end (a second SIGINT ends the process at once), SIGUSR1 for a checkpoint, SIGUSR2 for
// a status.
void watch_signals();

// What was asked for, as window_flag bits: `stop` from then on, the others once.
std::uint32_t take_signal_flags();

}  // namespace orrery
