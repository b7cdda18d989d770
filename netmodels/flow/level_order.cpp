// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/level_order.hpp"

#include <algorithm>

namespace orrery {

void LevelOrder::grow(std::uint32_t links) {
    while (order_.size() < links) {
        position_.push_back(static_cast<std::uint32_t>(order_.size()));
        order_.push_back(position_.back());
    }
    words_.resize((links + 63) / 64, 0);
    groups_.resize((links + 4095) / 4096, 0);
}

void LevelOrder::clear() {
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(groups_.begin(), groups_.end(), 0);
}

}  // namespace orrery
