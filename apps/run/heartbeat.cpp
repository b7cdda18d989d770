// SPDX-License-Identifier: Apache-2.0
#include "apps/run/heartbeat.hpp"

#include "apps/run/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace orrery {

WindowHook::Request Heartbeat::at_window(WindowStatus const& status) {
    Request request{.flags = 0, .load = sink_->operations()};
    auto const bin = status.window.begin.ps() / setup_.link_bin.ps();
    if (status.window.index >= 0 && bin > bins_closed_) {
        bins_closed_ = bin;
        emit_bins(Time::from_ps(bin * setup_.link_bin.ps()));
    }
    if (status.window.index >= 0) complete_until_ = std::max(complete_until_, status.window.begin - setup_.row_delay);
    if (setup_.limits.max_events && status.events >= *setup_.limits.max_events) request.flags |= window_flag::walltime;
    request.flags |= signal_flags();
    if (status.window.index >= 0 && setup_.checkpoint_due(status)) request.flags |= window_flag::checkpoint;

    auto const wall = clock_.seconds();
    if (wall < next_look_) return request;
    next_look_ = wall + 0.05;
    if (setup_.limits.walltime_s && wall >= *setup_.limits.walltime_s) request.flags |= window_flag::walltime;
    if (setup_.limits.memory_bytes && peak_memory_bytes() > *setup_.limits.memory_bytes / setup_.processes)
        request.flags |= window_flag::memory;
    setup_.stream(complete_until_);
    if (setup_.progress != Progress::off && wall >= next_show_) {
        next_show_ = wall + (setup_.progress == Progress::terminal ? 1 : 10);
        show(status, wall);
    }
    return request;
}

// A launcher passes a signal on to all processes, and it reaches each in its own window: what comes within a second of
// an answer has been answered.
std::uint32_t Heartbeat::signal_flags() {
    auto const flags = take_signal_flags();
    if (flags == 0 || clock_.seconds() >= deaf_until_) return flags;
    return flags & window_flag::leaving;
}

void Heartbeat::agreed(WindowReport const& all) {
    if (all.flags & window_flag::checkpoint) setup_.checkpoint(all);
    deaf_until_ = clock_.seconds() + 1;
}

void Heartbeat::show(WindowStatus const& status, double wall) const {
    auto const share =
        setup_.operations == 0 ? 0.0 : static_cast<double>(status.all.load) / static_cast<double>(setup_.operations);
    auto const rate = static_cast<double>(status.events) / wall;
    auto const eta = share > 0 ? fmt::format("{:.0f} s", wall / share * (1 - share)) : std::string{"unknown"};
    fmt::print(stderr, "{}simulated {}  {:.1f} %  {:.3g} events/s  ETA {}{}",
               setup_.progress == Progress::terminal ? "\r\033[K" : "", to_string(status.window.begin), share * 100,
               rate, eta, setup_.progress == Progress::terminal ? "" : "\n");
    std::fflush(stderr);
}

void Heartbeat::emit_bins(Time until) {
    for (auto* traffic : traffic_) traffic->emit_until(until, *sink_);
    sink_->forward_bins();
}

void Heartbeat::finish(Time now) {
    emit_bins(Time::from_ps((now.ps() / setup_.link_bin.ps() + 1) * setup_.link_bin.ps()));
    if (setup_.progress == Progress::terminal) fmt::print(stderr, "\r\033[K");
}

}  // namespace orrery
