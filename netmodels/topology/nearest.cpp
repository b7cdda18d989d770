// SPDX-License-Identifier: Apache-2.0
// Edit distance against a shell pattern, by rows that are kept for the next name.
#include "netmodels/topology/nearest.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t kept = 3;
constexpr std::size_t longest = 64;  // of a pattern: longer ones are compared by their beginning

}  // namespace

PatternDistance::PatternDistance(std::string_view pattern) : pattern_(pattern.substr(0, longest)) {
    rows_.push_back(0);
    for (char const c : pattern_) rows_.push_back(rows_.back() + (c == '*' ? 0 : 1));
}

std::size_t PatternDistance::to(std::string_view name) {
    std::size_t const width = pattern_.size() + 1;
    auto const same = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.end(), last_.begin(), last_.end()).first - name.begin());
    last_ = name;
    rows_.resize((name.size() + 1) * width);
    for (std::size_t n = same; n < name.size(); ++n) {
        std::size_t const* const before = &rows_[n * width];
        std::size_t* const row = &rows_[(n + 1) * width];
        row[0] = n + 1;
        for (std::size_t i = 0; i < pattern_.size(); ++i) {
            if (pattern_[i] == '*') {
                row[i + 1] = std::min(before[i + 1], row[i]);
            } else {
                std::size_t const replaced = before[i] + (pattern_[i] == name[n] || pattern_[i] == '?' ? 0 : 1);
                row[i + 1] = std::min({replaced, before[i + 1] + 1, row[i] + 1});
            }
        }
    }
    return rows_.back();
}

void NearestNames::offer(std::string_view name) {
    std::size_t const distance = distance_.to(name);
    if (best_.size() == kept && distance >= best_.back().distance) return;
    auto const place = std::upper_bound(best_.begin(), best_.end(), distance,
                                        [](std::size_t d, Candidate const& c) { return d < c.distance; });
    best_.insert(place, Candidate{distance, std::string(name)});
    if (best_.size() > kept) best_.pop_back();
}

std::string NearestNames::text() const {
    std::string result;
    for (std::size_t i = 0; i < best_.size(); ++i) {
        if (i > 0) result += i + 1 == best_.size() ? " or " : ", ";
        result += '\'' + best_[i].name + '\'';
    }
    return result;
}

}  // namespace orrery
