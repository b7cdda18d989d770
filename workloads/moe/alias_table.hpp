// SPDX-License-Identifier: Apache-2.0
// One weighted choice from one 32-bit random number, in constant time.
#pragma once

#include "core/random.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// Walker's alias method (1977), built as by Vose (1991), in integers. Thresholds have 32 bits: a probability is off by
// at most 2^-32 times the number of entries. All weights zero: every entry is equally likely.
class AliasTable {
  public:
    AliasTable() = default;
    // At most 65,535 entries, whose sum fits 64 bits.
    explicit AliasTable(std::vector<std::uint64_t> const& weights);

    std::uint16_t draw(RandomSequence& random) const {
        // The high word of the product is the cell, the low word the place inside it.
        std::uint64_t const product = std::uint64_t{random.next_u32()} * cells_.size();
        Cell const& cell = cells_[product >> 32];
        return static_cast<std::uint32_t>(product) < cell.keep_below ? cell.own : cell.other;
    }

  private:
    struct Cell {
        std::uint32_t keep_below;  // the part of the cell, in 2^-32, that stays with its own entry
        std::uint16_t own, other;
    };
    std::vector<Cell> cells_;
};

}  // namespace orrery
