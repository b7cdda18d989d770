// SPDX-License-Identifier: Apache-2.0
// Once per window: progress for people, limits and signals for the loop, link bins for the timeline.
#pragma once

#include "apps/run/limits.hpp"
#include "apps/run/run_sink.hpp"
#include "core/window_loop.hpp"
#include "netmodels/exchange/transfer_engine.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace orrery {

enum class Progress : std::uint8_t { off, lines, terminal };

class Heartbeat final : public WindowHook {
  public:
    struct Setup {
        Progress progress = Progress::off;  // of this process; only process 0 shows any
        RunLimits limits;
        std::uint32_t processes = 1;
        std::int64_t operations = 0;  // of all ranks
        Time link_bin;
        Time row_delay;  // rows reach the sink at most this much simulated time late
        // Asked twenty times a second; every row with a time before `complete_until` has reached the sink.
        std::function<void(Time complete_until)> stream;
        // Asked in every window; true: all processes take a checkpoint behind it.
        std::function<bool(WindowStatus const&)> checkpoint_due = [](WindowStatus const&) { return false; };
        // Called on every process at the same window boundary when one of them asked for a checkpoint.
        std::function<void(WindowReport const&)> checkpoint = [](WindowReport const&) {};
    };

    Heartbeat(Setup setup, std::vector<LinkTraffic*> traffic, RunSink& sink)
        : setup_(std::move(setup)), traffic_(std::move(traffic)), sink_(&sink) {}

    Request at_window(WindowStatus const& status) override;
    void agreed(WindowReport const& all) override;
    // Closes every bin up to `now`, the open one included.
    void finish(Time now);
    // Every row of this process with a time before it has reached the sink.
    Time complete_until() const { return complete_until_; }

  private:
    std::uint32_t signal_flags();
    void show(WindowStatus const& status, double wall) const;
    void emit_bins(Time until);

    Setup setup_;
    std::vector<LinkTraffic*> traffic_;
    RunSink* sink_;
    WallClock clock_;
    std::int64_t bins_closed_ = 0;
    Time complete_until_;
    double next_show_ = 0.5, next_look_ = 0;
    double deaf_until_ = 0;  // to signals that the loop goes on after
};

}  // namespace orrery
