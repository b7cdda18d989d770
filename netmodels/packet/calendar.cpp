// SPDX-License-Identifier: Apache-2.0
// The slow parts of the calendar: new blocks, distant windows, the search for the next one.
#include "netmodels/packet/calendar.hpp"

#include <algorithm>

namespace orrery {

void PacketCalendar::add_block(std::size_t place) {
    auto& bucket = ring_[place];
    occupied_[place / 64] |= std::uint64_t{1} << (place % 64);
    if (free_.empty()) {
        all_.push_back(std::make_unique<Block>());
        free_.push_back(all_.back().get());
    }
    bucket.blocks.push_back(free_.back());
    free_.pop_back();
}

void PacketCalendar::push_far(std::int64_t window, Packet const& packet) {
    auto& turn = far_[window / ring_size];
    turn.packets.push_back({window, packet});
    turn.earliest = std::min(turn.earliest, window);
    ++pending_;
}

void PacketCalendar::open(std::int64_t window) {
    ORRERY_ENSURE(window >= current_ && next() >= window, "packet window {} opened after {} with packets left", window,
                  current_);
    current_ = window;
    // A turn that has begun lies within the ring as a whole.
    while (!far_.empty() && far_.begin()->first * ring_size <= window) {
        auto const turn = std::move(far_.begin()->second);
        far_.erase(far_.begin());
        pending_ -= static_cast<std::int64_t>(turn.packets.size());
        for (auto const& far : turn.packets) push(far.window, far.packet);
    }
    opened_ = ring_[place()].blocks.data();
}

void PacketCalendar::close() {
    auto& bucket = ring_[place()];
    pending_ -= bucket.size;
    free_.insert(free_.end(), bucket.blocks.begin(), bucket.blocks.end());
    bucket.blocks.clear();
    bucket.size = 0;
    occupied_[place() / 64] &= ~(std::uint64_t{1} << (place() % 64));
}

std::int64_t PacketCalendar::next() const {
    auto const earliest = far_.empty() ? never : far_.begin()->second.earliest;
    for (std::int64_t ahead = 0; ahead < ring_size;) {
        auto const place = static_cast<std::size_t>((current_ + ahead) & (ring_size - 1));
        auto const bits = occupied_[place / 64] >> (place % 64);
        if (bits != 0) {
            auto const found = current_ + ahead + std::countr_zero(bits);
            // A place beyond one turn is one already looked at.
            if (found < current_ + ring_size) return std::min(found, earliest);
            break;
        }
        ahead += 64 - static_cast<std::int64_t>(place % 64);
    }
    return earliest;
}

}  // namespace orrery
