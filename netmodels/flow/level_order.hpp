// SPDX-License-Identifier: Apache-2.0
// The links in nearly ascending order of their levels, and the marks of those still to be looked at.
#pragma once

#include "core/state.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace orrery {

// From one settle to the next, levels change by little, so a link keeps its position or moves by a few. A mark is then
// one bit at that position and the next link to look at is the lowest bit set: cheaper than a heap, in which every link
// pays a logarithm at every settle. The order decides how often a link is looked at, never the result, so it may be
// slightly wrong; it is sorted again when too much of it is.
class LevelOrder {
  public:
    void grow(std::uint32_t links);
    void mark(std::uint32_t link) {
        auto const position = position_[link];
        words_[position / 64] |= std::uint64_t{1} << position % 64;
        groups_[position / 4096] |= std::uint64_t{1} << position / 64 % 64;
    }
    // The first marked link; `none` when there is none.
    static constexpr std::uint32_t none = 0xffffffff;
    std::uint32_t peek() const {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (groups_[g] == 0) continue;
            auto const word = g * 64 + static_cast<std::size_t>(std::countr_zero(groups_[g]));
            return order_[word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]))];
        }
        return none;
    }
    void unmark(std::uint32_t link) {
        auto const position = position_[link];
        auto& word = words_[position / 64];
        word &= ~(std::uint64_t{1} << position % 64);
        if (word == 0) groups_[position / 4096] &= ~(std::uint64_t{1} << position / 64 % 64);
    }
    void clear();
    void state(StateStream& stream) { stream(order_, position_, words_, groups_, misplaced_); }

    // Moves a link to where its level puts it, by a few positions at most; no mark may be set. level(link) gives any
    // link's level.
    template <class Level>
    void move(std::uint32_t link, Level const& level);
    // Call after the moves of one settle.
    template <class Level>
    void sort_if_worn(Level const& level);

    std::size_t memory_bytes() const { return (order_.capacity() + position_.capacity()) * 4 + words_.capacity() * 8; }

  private:
    static constexpr std::uint32_t most_steps = 16;
    std::vector<std::uint32_t> order_, position_;
    std::vector<std::uint64_t> words_, groups_;
    std::uint32_t misplaced_ = 0;  // moves that stopped short since the last sort
};

template <class Level>
void LevelOrder::move(std::uint32_t link, Level const& level) {
    auto const mine = level(link);
    auto at = position_[link];
    auto const first = at;
    while (at > 0 && first - at < most_steps && level(order_[at - 1]) > mine) {
        order_[at] = order_[at - 1];
        position_[order_[at]] = at;
        --at;
    }
    while (at + 1 < order_.size() && at - first < most_steps && at >= first && level(order_[at + 1]) < mine) {
        order_[at] = order_[at + 1];
        position_[order_[at]] = at;
        ++at;
    }
    order_[at] = link;
    position_[link] = at;
    if (first - at == most_steps || at - first == most_steps) ++misplaced_;
}

template <class Level>
void LevelOrder::sort_if_worn(Level const& level) {
    if (misplaced_ * 8 < order_.size()) return;
    misplaced_ = 0;
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return level(a) < level(b); });
    for (std::uint32_t at = 0; at < order_.size(); ++at) position_[order_[at]] = at;
}

}  // namespace orrery
