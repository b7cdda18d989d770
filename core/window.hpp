// SPDX-License-Identifier: Apache-2.0
// A window of simulated time: the step by which all processes move together.
#pragma once

#include "core/units.hpp"

#include <cstdint>

namespace orrery {

// Half-open: every event in [begin, end) may be handled without hearing from another process, because whatever another
// LP sends arrives at least one lookahead after it was sent, and no window is wider than the lookahead. The index is a
// function of time alone (begin / width), so it does not depend on how a run came to it.
struct Window {
    std::int64_t index = -1;
    Time begin, end;

    bool empty() const { return end <= begin; }
    bool contains(Time t) const { return begin <= t && t < end; }

    // The window that holds `t` (not before time zero) when every window is `width` wide.
    static Window containing(Time t, Time width) {
        auto const index = t.ps() / width.ps();
        auto const begin = Time::from_ps(index * width.ps());
        auto const room = Time::infinity() - begin;
        return {index, begin, room < width ? Time::infinity() : begin + width};
    }
};

}  // namespace orrery
