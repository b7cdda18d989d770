// SPDX-License-Identifier: Apache-2.0
// How busy a link is, in one byte: what packets of a transport with telemetry carry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace orrery {

// The utilisation of HPCC (Li et al., SIGCOMM 2019: rate over capacity plus queue over bandwidth-delay product) as a
// moving average that the switch keeps, of which a packet carries the largest on its way, quantised (Ben Basat et al.,
// PINT, SIGCOMM 2020, section 4.3). A level is a logarithm in steps of 1/32 of an octave, from 1/16 to 16 times the
// capacity, so it is off by at most 1.6 %.
class LinkLoad {
  public:
    static constexpr std::uint32_t full = 1U << 16;  // a link that sends all the time and has no queue

    // A packet that takes `time` begins to leave at `now` and leaves `queued` behind it, in ps of sending; the average
    // is over about one round trip. Returns the level.
    std::uint8_t sent(std::int64_t now, std::int64_t time, std::int64_t queued, std::int64_t round_trip) {
        auto const gap = std::min(now - at_, round_trip);
        at_ = now;
        auto const rest = load_ - load_ * gap / round_trip;
        load_ = rest + (queued * gap / round_trip + time) * full / round_trip;
        return level(static_cast<std::uint64_t>(load_));
    }

    static std::uint8_t level(std::uint64_t load) {
        if (load < least) return 0;
        auto const octave = static_cast<std::uint32_t>(std::bit_width(load)) - 1;
        auto const step = static_cast<std::uint32_t>(load >> (octave - 5)) & 31;
        return static_cast<std::uint8_t>(std::min((octave - least_octave) * 32 + step, 255U));
    }
    // The middle of what has this level.
    static std::uint32_t load(std::uint8_t level) {
        auto const octave = least_octave + level / 32U;
        return (65U + 2 * (level % 32U)) << (octave - 6);
    }

  private:
    static constexpr std::uint32_t least_octave = 12;
    static constexpr std::uint64_t least = 1U << least_octave;

    std::int64_t at_ = 0, load_ = 0;
};

}  // namespace orrery
