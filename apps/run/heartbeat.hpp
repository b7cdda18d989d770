// SPDX-License-Identifier: Apache-2.0
// Once per window: progress for people, limits and signals for the loop, link bins for the timeline.
#pragma once

#include "apps/run/deadline.hpp"
#include "apps/run/limits.hpp"
#include "apps/run/process_status.hpp"
#include "apps/run/run_sink.hpp"
#include "core/window_loop.hpp"
#include "netmodels/exchange/transfer_engine.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace orrery {

enum class Progress : std::uint8_t { off, lines, terminal };

// Wall clock that went into files: what LPs wrote while they were busy, and flushes and checkpoints beside that.
struct WriteSeconds {
    double within_busy = 0, beside = 0;
};

class Heartbeat final : public WindowHook {
  public:
    struct Setup {
        Progress progress = Progress::off;  // of this process; only process 0 shows any
        RunLimits limits;
        std::uint32_t process = 0, processes = 1;
        std::int64_t operations = 0;  // of all ranks
        Time link_bin;
        Time row_delay;                 // rows reach the sink at most this much simulated time late
        std::int64_t earlier_rows = 0;  // of the legs before, which are merged again
        // Asked twenty times a second; every row with a time before `complete_until` has reached the sink.
        std::function<void(Time complete_until)> stream;
        // Asked in every window; true: all processes take a checkpoint behind it.
        std::function<bool(WindowStatus const&)> checkpoint_due;
        // Called on every process at the same window boundary when one of them asked for a checkpoint.
        std::function<void()> checkpoint;
        std::function<double()> checkpoint_cost_s;  // of one more
        std::function<WriteSeconds()> writing;      // so far
        GatherStatus gather;
    };

    Heartbeat(Setup setup, std::vector<LinkTraffic*> traffic, RunSink& sink);

    Request at_window(WindowStatus const& status) override;
    void agreed(WindowReport const& all) override;
    // Closes every bin up to `now`, the open one included.
    void finish(Time now);
    // Every row of this process with a time before it has reached the sink.
    Time complete_until() const { return complete_until_; }
    // Of this process, as of the end of a loop.
    ProcessStatus status(RunOutcome const& outcome) const;

  private:
    std::uint32_t signal_flags(double wall);
    std::uint32_t limit_flags(double wall) const;
    double writing_cost_s(double wall) const;
    void watch_progress(WindowStatus const& status);
    std::string progress_text(WindowReport const& all, double wall) const;
    void show(WindowReport const& all, double wall);
    void emit_bins(Time until);

    struct Mark {  // where the run stood at some moment
        double wall = 0, cpu = 0;
        std::int64_t events = 0, operations = 0;
    };

    Setup setup_;
    std::vector<LinkTraffic*> traffic_;
    RunSink* sink_;
    Deadline deadline_;
    WindowStatus now_;                  // of the window handled last
    std::vector<ProcessStatus> board_;  // process 0: as gathered last
    double board_wall_ = 0;
    Mark start_, shown_;
    std::int64_t progress_ = -1, bins_closed_ = 0;
    Time progress_at_, complete_until_;
    double next_look_ = 0, next_beat_;
    double deaf_until_ = 0;  // to signals that the loop goes on after
};

}  // namespace orrery
