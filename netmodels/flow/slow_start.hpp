// SPDX-License-Identifier: Apache-2.0
// Slow start: a transfer's rate is capped at one window per round trip, and the window doubles every round trip.
#pragma once

#include "netmodels/flow/max_min_kernel.hpp"

#include <deque>

namespace orrery {

// The exponential part of a window-based congestion control (RFC 5681, sec. 3.1, without loss): window w in round trip
// 0, 2w in 1, 4w in 2, ... until the cap no longer matters. One round trip for all transfers.
class SlowStart {
  public:
    // No window: no ramp.
    SlowStart(std::int64_t initial_window_bytes, Time round_trip);

    bool on() const { return first_ != Rate::unlimited(); }
    // The cap a transfer begins with, given the one it has anyway.
    Rate first(Rate cap) const { return std::min(cap, first_); }
    // `flow` of the kernel began at `now`; from now on it is known by its cookie.
    void began(Time now, std::uint32_t flow, std::uint64_t cookie, Rate cap);
    // When the next windows double; infinity when none is left.
    Time next() const { return ramps_.empty() ? Time::infinity() : ramps_.front().when; }
    void advance(Time now, MaxMinKernel& kernel);
    void state(StateStream& stream) { stream(ramps_); }

  private:
    struct Ramp {
        Time when;
        std::uint64_t cookie;
        std::uint32_t flow;
        Rate window, cap;
    };
    Rate first_ = Rate::unlimited();
    Time round_trip_;
    std::deque<Ramp> ramps_;  // in order of time, since all round trips are alike
};

}  // namespace orrery
