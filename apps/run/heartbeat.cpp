// SPDX-License-Identifier: Apache-2.0
#include "apps/run/heartbeat.hpp"

#include "apps/run/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace orrery {
namespace {

constexpr double look_s = 0.05;  // between looks at limits that cost a system call
constexpr double alone_s = 0.5, with_launcher_s = 2.5;
constexpr double first_beat_s = 0.5;

}  // namespace

Heartbeat::Heartbeat(Setup setup, std::vector<LinkTraffic*> traffic, RunSink& sink)
    : setup_(std::move(setup)),
      traffic_(std::move(traffic)),
      sink_(&sink),
      deadline_(setup_.limits.walltime_s, setup_.processes > 1 ? with_launcher_s : alone_s) {
    auto const now = program_seconds();
    deadline_.window_begins(now);
    next_beat_ = now + first_beat_s;
}

WindowHook::Request Heartbeat::at_window(WindowStatus const& status) {
    auto const wall = program_seconds();
    deadline_.window_ended(wall);
    deadline_.window_begins(wall);
    now_ = status;
    if (start_.wall == 0 && status.window.index >= 0)
        start_ = shown_ = {wall, cpu_seconds(), status.events, status.all.load};
    // What a window of packets still has to book lies at most this far back.
    auto const bin = (status.window.begin - setup_.row_delay).ps() / setup_.link_bin.ps();
    if (status.window.index >= 0 && bin > bins_closed_) {
        bins_closed_ = bin;
        emit_bins(Time::from_ps(bin * setup_.link_bin.ps()));
    }
    if (status.window.index >= 0) complete_until_ = std::max(complete_until_, status.window.begin - setup_.row_delay);
    watch_progress(status);
    Request request{.flags = signal_flags(wall), .load = sink_->operations()};
    if (setup_.limits.max_events && status.events >= *setup_.limits.max_events) request.flags |= window_flag::walltime;
    if (status.window.index >= 0 && setup_.checkpoint_due(status)) request.flags |= window_flag::checkpoint;

    if (wall < next_look_) return request;
    next_look_ = wall + look_s;
    request.flags |= limit_flags(wall);
    setup_.stream(complete_until_);
    if (setup_.process == 0 && wall >= next_beat_) {
        next_beat_ = wall + (setup_.progress == Progress::terminal ? 1 : 10);
        request.flags |= window_flag::heartbeat;
    }
    return request;
}

// A launcher passes a signal on to all processes, and it reaches each in its own window: what comes within a second of
// an answer has been answered.
std::uint32_t Heartbeat::signal_flags(double wall) {
    auto const flags = take_signal_flags();
    return wall >= deaf_until_ ? flags : flags & window_flag::leaving;
}

std::uint32_t Heartbeat::limit_flags(double wall) const {
    std::uint32_t flags = 0;
    auto const& limits = setup_.limits;
    constexpr double judged_s = 0.5;  // of CPU; less says nothing
    auto const slowness =
        start_.wall == 0
            ? 1.0
            : std::clamp((wall - start_.wall - now_.sync_seconds) / std::max(judged_s, cpu_seconds() - start_.cpu), 1.0,
                         3.0);
    if (deadline_.due(wall, writing_cost_s(wall), slowness)) flags |= window_flag::walltime;
    if (limits.memory_bytes && peak_memory_bytes() > *limits.memory_bytes / setup_.processes)
        flags |= window_flag::memory;
    return flags;
}

// Of one checkpoint, and of the merged timeline, which process 0 writes from the rows of all.
double Heartbeat::writing_cost_s(double wall) const {
    constexpr double seconds_per_row = 1e-6;  // twice what an idle machine needs
    auto rows = static_cast<double>(sink_->rows());
    if (!board_.empty())
        rows = std::max(rows, static_cast<double>(total_rows(board_)) * wall / std::max(board_wall_, first_beat_s));
    return setup_.checkpoint_cost_s() + (rows + static_cast<double>(setup_.earlier_rows)) * seconds_per_row;
}

// Sees only what all processes see alike, so that all of them give up in the same window.
void Heartbeat::watch_progress(WindowStatus const& status) {
    if (status.all.load != progress_) {
        progress_ = status.all.load;
        progress_at_ = status.window.begin;
        return;
    }
    auto const since = status.window.begin - progress_at_;
    if (since > setup_.limits.stall)
        throw IncompleteError(fmt::format(
            "events go on and nothing comes of them: no operation has ended for {} of simulated time (since "
            "{}; --stall-limit allows {})",
            to_string(since), to_string(progress_at_), to_string(setup_.limits.stall)));
}

ProcessStatus Heartbeat::status(RunOutcome const& outcome) const {
    auto const writing = setup_.writing();
    return {.events = outcome.local_events,
            .pending = now_.pending,
            .rows = sink_->rows(),
            .memory_bytes = peak_memory_bytes(),
            .busy_s = std::max(0.0, outcome.busy_seconds - writing.within_busy),
            .sync_s = outcome.sync_seconds,
            .write_s = writing.within_busy + writing.beside};
}

void Heartbeat::agreed(WindowReport const& all) {
    if (all.flags & window_flag::checkpoint) setup_.checkpoint();
    if (all.flags & (window_flag::status | window_flag::heartbeat)) {
        auto const mine = status(
            {.local_events = now_.local_events, .busy_seconds = now_.busy_seconds, .sync_seconds = now_.sync_seconds});
        board_ = setup_.gather(mine);
        if (board_.empty()) board_ = {mine};
        board_wall_ = program_seconds();
    }
    if (setup_.process == 0 && (all.flags & window_flag::heartbeat)) show(all, board_wall_);
    if (setup_.process == 0 && (all.flags & window_flag::status)) {
        fmt::print(stderr, "{}status: {}\n{}", setup_.progress == Progress::terminal ? "\r\033[K" : "",
                   progress_text(all, board_wall_), status_table(board_, 64));
        std::fflush(stderr);
    }
    auto const wall = program_seconds();
    if (all.flags & (window_flag::status | window_flag::checkpoint)) deaf_until_ = wall + 1;
    deadline_.window_begins(wall);  // what was done here is no part of a window
}

// Rates are those since the last line; the time left is judged by all of the run that this program has seen.
std::string Heartbeat::progress_text(WindowReport const& all, double wall) const {
    auto const share = [this](std::int64_t operations) {
        return setup_.operations == 0 ? 0.0 : static_cast<double>(operations) / static_cast<double>(setup_.operations);
    };
    auto const events = now_.events + all.events;
    auto const rate = static_cast<double>(events - shown_.events) / std::max(1e-3, wall - shown_.wall);
    auto const gained = share(all.load) - share(start_.operations);
    auto const eta = gained > 0 ? fmt::format("{:.0f} s", (wall - start_.wall) / gained * (1 - share(all.load)))
                                : std::string{"unknown"};
    auto text = fmt::format("simulated {}  {:.1f} %  {:.3g} events/s  ETA {}", to_string(all.last),
                            share(all.load) * 100, rate, eta);
    if (setup_.processes > 1)
        text += fmt::format("  imbalance {:.2f}  waiting {:.0f} %", busy_imbalance(board_), sync_share(board_) * 100);
    return text;
}

void Heartbeat::show(WindowReport const& all, double wall) {
    if (setup_.progress != Progress::off) {
        bool const terminal = setup_.progress == Progress::terminal;
        fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "", progress_text(all, wall), terminal ? "" : "\n");
        std::fflush(stderr);
    }
    shown_ = {wall, cpu_seconds(), now_.events + all.events, all.load};
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
