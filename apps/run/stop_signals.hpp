// SPDX-License-Identifier: Apache-2.0
// SIGTERM and SIGINT become a flag that the window loop carries to all processes.
#pragma once

namespace orrery {

void watch_stop_signals();
bool stop_requested();

}  // namespace orrery
