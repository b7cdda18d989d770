// SPDX-License-Identifier: Apache-2.0
// The bins and sums that statistics of durations are made of: integers, exact to merge in any order.
#pragma once

#include "core/units.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace orrery {

// Fixed bins over positive 64-bit integers: every value below 64 has its own bin, above that each octave has 64 bins,
// so that a bin's middle is within 1/128 (0.8 %) of every value in it. Integers only: a histogram is the sum of the
// histograms of its parts, whatever the parts.
struct LogBins {
    static constexpr int sub_bits = 6;
    static constexpr std::int64_t sub_bins = std::int64_t{1} << sub_bits;
    static constexpr std::size_t count = static_cast<std::size_t>(sub_bins * (64 - sub_bits));

    static constexpr std::size_t index(std::int64_t value) {
        if (value < sub_bins) return value < 0 ? 0 : static_cast<std::size_t>(value);
        int const octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1 - sub_bits;  // >= 0
        return static_cast<std::size_t>(octave * sub_bins + (value >> octave));
    }
    static constexpr std::int64_t middle(std::size_t bin) {
        auto const b = static_cast<std::int64_t>(bin);
        if (b < sub_bins) return b;
        auto const octave = b / sub_bins - 1;
        auto const low = (b - octave * sub_bins) << octave;
        return low + ((std::int64_t{1} << octave) - 1) / 2;
    }

    // The bin of the smallest value that at least `percent` of all values do not exceed; `bins` count at least one.
    static constexpr std::size_t quantile(std::span<std::int64_t const> bins, std::int64_t values, int percent) {
        auto const wanted = static_cast<Int128>(values) * percent;
        std::int64_t seen = 0;
        std::size_t bin = 0;
        while (static_cast<Int128>(seen += bins[bin]) * 100 < wanted) ++bin;
        return bin;
    }
};

// A sum in two words, value = high * 2^32 + low, so that no run overflows it and adding the words of many processes is
// still exact.
struct WideSum {
    std::int64_t high = 0, low = 0;

    constexpr void add(std::int64_t value) {
        auto const sum = low + (value & 0xffffffff);
        high += (value >> 32) + (sum >> 32);
        low = sum & 0xffffffff;
    }
    constexpr void add(WideSum const& other) {
        auto const sum = low + other.low;
        high += other.high + (sum >> 32);
        low = sum & 0xffffffff;
    }
    constexpr Int128 value() const { return static_cast<Int128>(high) * (Int128{1} << 32) + low; }
};

static_assert(LogBins::index(std::numeric_limits<std::int64_t>::max()) == LogBins::count - 1);

}  // namespace orrery
