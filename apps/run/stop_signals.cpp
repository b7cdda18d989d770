// SPDX-License-Identifier: Apache-2.0
#include "apps/run/stop_signals.hpp"

#include <csignal>

namespace orrery {
namespace {

std::sig_atomic_t volatile requested = 0;

extern "C" void note_signal(int) {
    requested = 1;
}

}  // namespace

void watch_stop_signals() {
    struct sigaction action{};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
}

bool stop_requested() {
    return requested != 0;
}

}  // namespace orrery
