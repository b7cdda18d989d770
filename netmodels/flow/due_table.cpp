// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/due_table.hpp"

#include <algorithm>

namespace orrery {

void DueTable::grow(std::uint32_t entries) {
    auto const blocks = (entries + block_size - 1) / block_size;
    when_.resize(static_cast<std::size_t>(blocks) * block_size, Time::infinity().ps());
    kind_.resize(when_.size(), Kind::exact);
    block_.resize(blocks, Time::infinity().ps());
    stale_.resize(blocks, 0);
}

DueTable::Due DueTable::earliest() {
    for (auto const block : stale_blocks_) {
        auto const first = when_.begin() + static_cast<std::ptrdiff_t>(block) * block_size;
        block_[block] = *std::min_element(first, first + block_size);
        stale_[block] = 0;
    }
    stale_blocks_.clear();
    auto const best = std::min_element(block_.begin(), block_.end());
    if (best == block_.end() || *best == Time::infinity().ps()) return {};
    auto const first = static_cast<std::size_t>(best - block_.begin()) * block_size;
    auto entry = first;
    while (when_[entry] != *best) ++entry;
    return {Time::from_ps(*best), static_cast<std::uint32_t>(entry), kind_[entry]};
}

}  // namespace orrery
