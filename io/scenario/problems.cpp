// SPDX-License-Identifier: Apache-2.0
// Ordering and printing of the collected problems.
#include "io/scenario/problems.hpp"

#include "core/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery::loader {

namespace {

constexpr std::size_t most_printed = 100;  // a file with more is not a scenario
constexpr std::size_t most_kept = 1000;

}  // namespace

std::string Place::text() const {
    return mark.line > 0 ? fmt::format("{}:{}:{}", source, mark.line, mark.column) : source;
}

void Problems::add(Place const& place, std::string const& what) {
    if (!full()) entries_.push_back({place, what});
}

bool Problems::full() const {
    return entries_.size() >= most_kept;
}

void Problems::refuse(Place const& place, std::string_view path, std::string_view value,
                      quantity::Refusal const& refusal) {
    add(place, fmt::format("{} = {} ({}) {}", shown(path), shown(value), refusal.reason, refusal.fix));
}

void Problems::raise_if_any() const {
    if (entries_.empty()) return;
    // std::stable_sort would draw deprecated parts of libstdc++ 12 into clang builds; the index breaks ties instead.
    std::vector<std::size_t> order(entries_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        auto const key = [&](std::size_t i) {
            Place const& place = entries_[i].place;
            int const group = place.source.starts_with("--set") ? 2 : place.mark.line > 0 ? 0 : 1;
            return std::tuple{group, place.mark.line, place.mark.column, i};
        };
        return key(a) < key(b);
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(order.size(), most_printed); ++i)
        text += fmt::format("{}{}: {}", i > 0 ? "\n" : "", entries_[order[i]].place.text(), entries_[order[i]].what);
    if (order.size() > most_printed)
        text += fmt::format("\n... and {} more", full() ? "many" : fmt::format("{}", order.size() - most_printed));
    throw InputError(text);
}

std::string shown(std::string_view text, std::size_t limit) {
    std::string result;
    for (char const c : text.substr(0, limit)) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    // Do not end in the middle of a UTF-8 sequence.
    if (text.size() > limit) {
        while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80U) != 0) result.pop_back();
        result += "...";
    }
    return result;
}

std::string join(std::vector<std::string> const& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace orrery::loader
