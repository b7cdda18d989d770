// SPDX-License-Identifier: Apache-2.0
// An event and its place in the one total order that every process count agrees on.
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <type_traits>

namespace orrery {

// Total order: (when, target, kind, source, sequence). Sorting by time alone would let two events of one instant
// swap when a process boundary delays one of them: the counter-example that tests/partitions/engine_test.cpp keeps.
struct Event {
    Time when;
    LpId target;
    LpId source;
    std::uint32_t sequence = 0;  // per source, assigned when sent
    std::uint16_t kind = 0;      // meaning is the target's; also the class of the total order
    std::uint16_t spare = 0;
    std::array<std::uint64_t, 5> body{};

    friend constexpr std::strong_ordering order(Event const& a, Event const& b) {
        if (auto c = a.when <=> b.when; c != 0) return c;
        if (auto c = a.target <=> b.target; c != 0) return c;
        if (auto c = a.kind <=> b.kind; c != 0) return c;
        if (auto c = a.source <=> b.source; c != 0) return c;
        return a.sequence <=> b.sequence;
    }
    friend constexpr bool before(Event const& a, Event const& b) { return order(a, b) < 0; }
};

static_assert(std::is_trivially_copyable_v<Event> && sizeof(Event) == 64);

}  // namespace orrery
