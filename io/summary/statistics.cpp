// SPDX-License-Identifier: Apache-2.0
#include "io/summary/statistics.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {
namespace {

void add_to_sum(std::int64_t* words, std::int64_t value) {
    WideSum sum{words[0], words[1]};
    sum.add(value);
    words[0] = sum.high, words[1] = sum.low;
}

}  // namespace

void OperationStatistics::add(OperationRow const& row) {
    auto const kind = static_cast<std::size_t>(row.kind);
    auto const duration = (row.end - row.start).ps();
    ORRERY_ENSURE(kind < op_kind_count && duration >= 0, "operation of kind {} lasting {} ps", kind, duration);
    auto* const words = sums_.data() + kind * words_per_kind;
    words[count_word] += 1;
    add_to_sum(words + duration_word, duration);
    add_to_sum(words + wait_word, row.wait.ps());
    add_to_sum(words + exposed_word, row.exposed.ps());
    words[first_bin + LogBins::index(duration)] += 1;
    maxima_[2 * kind] = std::max(maxima_[2 * kind], duration);
    maxima_[2 * kind + 1] = std::max(maxima_[2 * kind + 1], -duration);
}

Int128 OperationStatistics::sum_of(OpKind kind, std::size_t word) const {
    auto const words = words_of(kind);
    return WideSum{words[word], words[word + 1]}.value();
}

Time OperationStatistics::mean_of(OpKind kind, std::size_t word) const {
    auto const n = count(kind);
    return n == 0 ? Time{} : Time::from_ps(static_cast<std::int64_t>((sum_of(kind, word) + n / 2) / n));
}

double OperationStatistics::exposed_share(OpKind kind) const {
    auto const total = sum_of(kind, duration_word);
    return total == 0 ? 0 : static_cast<double>(sum_of(kind, exposed_word)) / static_cast<double>(total);
}

Time OperationStatistics::min(OpKind kind) const {
    return count(kind) == 0 ? Time{} : Time::from_ps(-maxima_[2 * static_cast<std::size_t>(kind) + 1]);
}

Time OperationStatistics::max(OpKind kind) const {
    return count(kind) == 0 ? Time{} : Time::from_ps(maxima_[2 * static_cast<std::size_t>(kind)]);
}

Time OperationStatistics::quantile(OpKind kind, int percent) const {
    ORRERY_ENSURE(percent > 0 && percent <= 100, "quantile of {} percent", percent);
    auto const words = words_of(kind);
    if (words[count_word] == 0) return Time{};
    auto const bin = LogBins::quantile(words.subspan(first_bin), words[count_word], percent);
    return std::clamp(Time::from_ps(LogBins::middle(bin)), min(kind), max(kind));
}

void OperationStatistics::merge(OperationStatistics const& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    for (std::size_t i = 0; i < maxima_.size(); ++i) maxima_[i] = std::max(maxima_[i], other.maxima_[i]);
}

}  // namespace orrery
