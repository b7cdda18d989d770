// SPDX-License-Identifier: Apache-2.0
#include "apps/run/signals.hpp"

#include "core/exchange.hpp"

#include <csignal>

namespace orrery {
namespace {

// One variable per signal: a handler may only store into it.
std::sig_atomic_t volatile stop = 0, checkpoint = 0, status = 0;

extern "C" void note_stop(int signal) {
    // Whoever presses Ctrl-C twice does not want to wait for a tidy end.
    if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
    stop = 1;
}
extern "C" void note_checkpoint(int) {
    checkpoint = 1;
}
extern "C" void note_status(int) {
    status = 1;
}

void watch(int signal, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

std::uint32_t take(std::sig_atomic_t volatile& asked, std::uint32_t flag) {
    if (asked == 0) return 0;
    asked = 0;
    return flag;
}

}  // namespace

void watch_signals() {
    watch(SIGTERM, note_stop);
    watch(SIGINT, note_stop);
    watch(SIGUSR1, note_checkpoint);
    watch(SIGUSR2, note_status);
}

std::uint32_t take_signal_flags() {
    return (stop != 0 ? window_flag::stop : 0) | take(checkpoint, window_flag::checkpoint) |
           take(status, window_flag::status);
}

}  // namespace orrery
