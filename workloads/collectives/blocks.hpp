// SPDX-License-Identifier: Apache-2.0
// How the data of a collective is cut into numbered blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery {

// `bytes` in `parts` as equal as can be: the first bytes % parts of them are one byte larger.
class EvenSplit {
  public:
    EvenSplit(std::int64_t bytes, std::uint64_t parts)
        : parts_(parts),
          small_(bytes / static_cast<std::int64_t>(parts)),
          large_(static_cast<std::uint64_t>(bytes % static_cast<std::int64_t>(parts))) {}

    std::uint64_t parts() const { return parts_; }
    std::int64_t size(std::uint64_t part) const { return small_ + (part < large_ ? 1 : 0); }
    std::int64_t largest() const { return size(0); }
    bool even() const { return large_ == 0; }
    // Of parts [0, end).
    std::int64_t until(std::uint64_t end) const {
        return small_ * static_cast<std::int64_t>(end) + static_cast<std::int64_t>(std::min(end, large_));
    }
    std::int64_t range(std::uint64_t first, std::uint64_t count) const { return until(first + count) - until(first); }

  private:
    std::uint64_t parts_;
    std::int64_t small_;
    std::uint64_t large_;
};

}  // namespace orrery
