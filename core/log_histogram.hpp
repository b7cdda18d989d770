// SPDX-License-Identifier: Apache-2.0
// Count, mean, extremes and quantiles of values of one kind, in memory that grows with the largest value only.
#pragma once

#include "core/log_bins.hpp"
#include "core/state.hpp"

#include <algorithm>
#include <vector>

namespace orrery {

class LogHistogram {
  public:
    void add(std::int64_t value) {
        auto const bin = LogBins::index(value);
        if (bin >= bins_.size()) bins_.resize(bin + 1);
        ++bins_[bin];
        ++count_;
        sum_.add(value);
        max_ = std::max(max_, value);
        min_ = std::min(min_, value);
    }
    void merge(LogHistogram const& other) { merge(other.sums(), other.extremes()); }
    // The same from words that were added, or of which the largest were taken, over several histograms.
    void merge(std::vector<std::int64_t> const& sums, std::vector<std::int64_t> const& extremes);
    std::vector<std::int64_t> sums() const;      // equally many for every histogram
    std::vector<std::int64_t> extremes() const;  // maximum, negated minimum

    std::int64_t count() const { return count_; }
    // Rounded to the nearest; zero when there is none.
    std::int64_t mean() const;
    std::int64_t max() const { return count_ == 0 ? 0 : max_; }
    std::int64_t min() const { return count_ == 0 ? 0 : min_; }
    // The smallest value that at least percent of all do not exceed, within 0.8 % and never outside [min, max].
    std::int64_t quantile(int percent) const;
    // How many values are in each bin of LogBins, up to the last one that has any.
    std::vector<std::int64_t> const& bins() const { return bins_; }

    void state(StateStream& stream) { stream(bins_, count_, sum_, max_, min_); }

  private:
    std::vector<std::int64_t> bins_;  // by LogBins
    std::int64_t count_ = 0;
    WideSum sum_;
    std::int64_t max_ = std::numeric_limits<std::int64_t>::min(), min_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace orrery
