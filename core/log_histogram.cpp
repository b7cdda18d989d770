// SPDX-License-Identifier: Apache-2.0
#include "core/log_histogram.hpp"

namespace orrery {
namespace {

constexpr std::size_t first_bin = 3;  // behind the count and the two words of the sum

}  // namespace

std::vector<std::int64_t> LogHistogram::sums() const {
    std::vector<std::int64_t> words(first_bin + LogBins::count);
    words[0] = count_, words[1] = sum_.high, words[2] = sum_.low;
    std::copy(bins_.begin(), bins_.end(), words.begin() + first_bin);
    return words;
}

std::vector<std::int64_t> LogHistogram::extremes() const {
    return {max_, -min_};
}

void LogHistogram::merge(std::vector<std::int64_t> const& sums, std::vector<std::int64_t> const& extremes) {
    count_ += sums[0];
    sum_.add(WideSum{sums[1], sums[2]});
    bins_.resize(LogBins::count);
    for (std::size_t bin = 0; bin < LogBins::count; ++bin) bins_[bin] += sums[first_bin + bin];
    max_ = std::max(max_, extremes[0]);
    min_ = std::min(min_, -extremes[1]);
}

std::int64_t LogHistogram::mean() const {
    return count_ == 0 ? 0 : static_cast<std::int64_t>((sum_.value() + count_ / 2) / count_);
}

std::int64_t LogHistogram::quantile(int percent) const {
    if (count_ == 0) return 0;
    return std::clamp(LogBins::middle(LogBins::quantile(bins_, count_, percent)), min_, max_);
}

}  // namespace orrery
