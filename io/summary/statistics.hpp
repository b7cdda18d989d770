// SPDX-License-Identifier: Apache-2.0
// Counts, means, extremes and quantiles of operation durations, exact to merge in any order.
#pragma once

#include "core/log_bins.hpp"
#include "core/records.hpp"
#include "core/units.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

namespace orrery {

// Plain data in two arrays of words: over processes the first is reduced by sum, the second by maximum.
class OperationStatistics {
  public:
    void add(OperationRow const& row);

    std::int64_t count(OpKind kind) const { return words_of(kind)[count_word]; }
    // Rounded to the nearest picosecond; zero when there was none.
    Time mean(OpKind kind) const { return mean_of(kind, duration_word); }
    Time wait_mean(OpKind kind) const { return mean_of(kind, wait_word); }
    double exposed_share(OpKind kind) const;  // exposed time over duration
    Time min(OpKind kind) const;
    Time max(OpKind kind) const;
    // The smallest duration that at least percent of all do not exceed, within 0.8 % and never outside [min, max].
    Time quantile(OpKind kind, int percent) const;

    std::span<std::int64_t> words() { return sums_; }
    std::span<std::int64_t> max_words() { return maxima_; }
    void merge(OperationStatistics const& other);

  private:
    // A sum of picoseconds takes two words (WideSum).
    static constexpr std::size_t count_word = 0, duration_word = 1, wait_word = 3, exposed_word = 5, first_bin = 7;
    static constexpr std::size_t words_per_kind = first_bin + LogBins::count;

    std::span<std::int64_t const> words_of(OpKind kind) const {
        return std::span(sums_).subspan(static_cast<std::size_t>(kind) * words_per_kind, words_per_kind);
    }
    Int128 sum_of(OpKind kind, std::size_t word) const;
    Time mean_of(OpKind kind, std::size_t word) const;

    std::array<std::int64_t, words_per_kind * op_kind_count> sums_{};
    std::array<std::int64_t, 2 * op_kind_count> maxima_ = lowest();  // per kind: maximum, negated minimum

    static constexpr std::array<std::int64_t, 2 * op_kind_count> lowest() {
        std::array<std::int64_t, 2 * op_kind_count> words{};
        words.fill(std::numeric_limits<std::int64_t>::min());
        return words;
    }
};

static_assert(std::is_trivially_copyable_v<OperationStatistics>);

}  // namespace orrery
