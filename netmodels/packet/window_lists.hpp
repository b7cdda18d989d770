// SPDX-License-Identifier: Apache-2.0
// Numbers that wait for a window: which nodes have something to do in it.
#pragma once

#include "core/state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace orrery {

// A ring of 64 windows with a bit for each that holds anything; what is further ahead waits in a map.
class WindowLists {
  public:
    static constexpr std::int64_t never = std::int64_t{1} << 62;

    void add(std::int64_t window, std::uint32_t number) {
        if (window - current_ >= windows) {
            far_[window].push_back(number);
            return;
        }
        ring_[place(window)].push_back(number);
        occupied_ |= std::uint64_t{1} << place(window);
    }
    // Calls visit(number) for all that wait for `window` or an earlier one; it may add to later windows.
    template <class Visit>
    void take(std::int64_t window, Visit const& visit) {
        for (auto due = next(); due <= window; due = next()) {
            current_ = due;
            taken_.clear();
            if (occupied_ >> place(due) & 1) taken_.swap(ring_[place(due)]);
            occupied_ &= ~(std::uint64_t{1} << place(due));
            if (auto const far = far_.find(due); far != far_.end()) {
                taken_.insert(taken_.end(), far->second.begin(), far->second.end());
                far_.erase(far);
            }
            for (auto const number : taken_) visit(number);
        }
        current_ = window;
    }
    std::int64_t next() const {
        auto const far = far_.empty() ? never : far_.begin()->first;
        auto const turned = std::rotr(occupied_, static_cast<int>(place(current_)));
        return turned == 0 ? far : std::min(far, current_ + std::countr_zero(turned));
    }

    void state(StateStream& stream) { stream(current_, occupied_, ring_, far_); }

  private:
    static constexpr std::int64_t windows = 64;
    static std::size_t place(std::int64_t window) { return static_cast<std::size_t>(window & (windows - 1)); }

    std::int64_t current_ = 0;
    std::uint64_t occupied_ = 0;
    std::array<std::vector<std::uint32_t>, windows> ring_;
    std::map<std::int64_t, std::vector<std::uint32_t>> far_;
    std::vector<std::uint32_t> taken_;
};

}  // namespace orrery
