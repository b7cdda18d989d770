// SPDX-License-Identifier: Apache-2.0
// The earliest of many instants, when most of them change at every step.
#pragma once

#include "core/state.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// One instant per entry. A heap would pay a logarithm for each of the hundreds that move at every start and finish;
// here a change marks its block of 64, and earliest() rescans marked blocks: O(1) to set, O(entries / 64) to ask.
//
// An instant may be given as a lower bound: computing the exact one costs a 128-bit division, and only that of the
// earliest entry is ever needed. earliest() says which kind it found.
class DueTable {
  public:
    enum class Kind : std::uint8_t { exact, lower_bound };
    struct Due {
        Time when = Time::infinity();
        std::uint32_t entry = 0;
        Kind kind = Kind::exact;
    };

    void grow(std::uint32_t entries);
    void set(std::uint32_t entry, Time when, Kind kind) {
        when_[entry] = when.ps();
        kind_[entry] = kind;
        auto const block = entry / block_size;
        if (stale_[block]) return;
        stale_[block] = 1;
        stale_blocks_.push_back(block);
    }
    // The earliest instant, of the lowest entry among equals; infinity when there is none.
    Due earliest();
    void state(StateStream& stream) { stream(when_, kind_, block_, stale_, stale_blocks_); }
    std::size_t memory_bytes() const {
        return when_.capacity() * (sizeof(std::int64_t) + sizeof(Kind)) + block_.capacity() * 13;
    }

  private:
    static constexpr std::uint32_t block_size = 64;
    std::vector<std::int64_t> when_;  // ps
    std::vector<Kind> kind_;
    std::vector<std::int64_t> block_;  // the earliest of each block
    std::vector<std::uint8_t> stale_;
    std::vector<std::uint32_t> stale_blocks_;
};

}  // namespace orrery
