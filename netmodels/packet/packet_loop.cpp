// SPDX-License-Identifier: Apache-2.0
// One window after the other, alike on every process.
#include "netmodels/packet/packet_loop.hpp"

#include <chrono>
#include <exception>

namespace orrery {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void PacketLoop::post(Window const& window) {
    WindowReport mine;
    mine.next = std::min(network_.next(), network_.earliest_sent());
    mine.last = window.begin;
    for (auto const& packets : network_.outgoing()) mine.sent += static_cast<std::int64_t>(packets.size());
    if (failure_.kind != Failure::Kind::none) mine.flags |= window_flag::error;
    auto const started = std::chrono::steady_clock::now();
    exchange_.post(mine, network_.outgoing(), failure_);
    outcome_.sync_seconds += seconds_since(started);
}

bool PacketLoop::advance() {
    auto started = std::chrono::steady_clock::now();
    exchange_.collect(all_, arrivals_, failure_);
    outcome_.sync_seconds += seconds_since(started);
    if (all_.flags & window_flag::error) {
        if (failure_.kind == Failure::Kind::input) throw InputError(failure_.message);
        if (failure_.kind == Failure::Kind::incomplete) throw IncompleteError(failure_.message);
        throw InternalError(failure_.message);
    }
    started = std::chrono::steady_clock::now();
    network_.arrive(arrivals_);
    arrivals_.clear();
    outcome_.last = std::max(outcome_.last, all_.last);
    if (all_.next == Time::infinity()) {
        outcome_.reason = StopReason::finished;
        return false;
    }
    auto const window = Window::containing(all_.next, width_);
    ++outcome_.windows;
    try {
        network_.run(window);
    } catch (InputError const& error) {
        failure_ = {Failure::Kind::input, window.begin, LpId{exchange_.index()}, error.what()};
    } catch (IncompleteError const& error) {
        failure_ = {Failure::Kind::incomplete, window.begin, LpId{exchange_.index()}, error.what()};
    } catch (std::exception const& error) {
        failure_ = {Failure::Kind::internal, window.begin, LpId{exchange_.index()}, error.what()};
    }
    outcome_.busy_seconds += seconds_since(started);
    post(window);
    return true;
}

}  // namespace orrery
