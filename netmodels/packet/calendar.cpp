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
    bucket.free = bucket.blocks.back()->data();
    bucket.end = bucket.free + block_packets;
}

Packet& PacketCalendar::push_far(std::int64_t window) {
    auto& turn = far_[window / windows];
    turn.packets.push_back({window, {}});
    turn.earliest = std::min(turn.earliest, window);
    return turn.packets.back().packet;
}

void PacketCalendar::open(std::int64_t window) {
    ORRERY_ENSURE(window >= current_ && next() >= window, "packet window {} opened after {} with packets left", window,
                  current_);
    current_ = window;
    // A turn that has begun lies within the ring as a whole.
    while (!far_.empty() && far_.begin()->first * windows <= window) {
        auto const turn = std::move(far_.begin()->second);
        far_.erase(far_.begin());
        for (auto const& far : turn.packets) push(far.window, far.packet.offset) = far.packet;
    }
    for (std::size_t part = 0; part < std::size_t{1} << part_bits; ++part) {
        auto& bucket = ring_[place_of(window) + part];
        for (auto* block : bucket.blocks) opened_.push_back({block, block_packets});
        if (!bucket.blocks.empty()) opened_.back().size -= static_cast<std::uint32_t>(bucket.end - bucket.free);
        bucket.blocks.clear();
        bucket.free = bucket.end = nullptr;
    }
    // The parts of a window share one word.
    auto const place = place_of(window);
    occupied_[place / 64] &= ~(((std::uint64_t{1} << (1 << part_bits)) - 1) << (place % 64));
}

void PacketCalendar::close() {
    for (auto const& opened : opened_) free_.push_back(opened.block);
    opened_.clear();
}

std::int64_t PacketCalendar::next() const {
    auto const earliest = far_.empty() ? never : far_.begin()->second.earliest;
    for (std::int64_t ahead = 0; ahead < windows;) {
        auto const place = place_of(current_ + ahead);
        auto const bits = occupied_[place / 64] >> (place % 64);
        if (bits != 0) return std::min(current_ + ahead + (std::countr_zero(bits) >> part_bits), earliest);
        ahead += static_cast<std::int64_t>(64 - place % 64) >> part_bits;
    }
    return earliest;
}

void PacketCalendar::state(StateStream& stream) {
    std::vector<Far> held;
    if (!stream.restoring()) {
        for (auto window = current_; window < current_ + windows; ++window)
            for (std::size_t part = 0; part < std::size_t{1} << part_bits; ++part) {
                auto const& bucket = ring_[place_of(window) + part];
                for (auto const* block : bucket.blocks)
                    for (auto const& packet : *block) {
                        if (&packet == bucket.free) break;
                        held.push_back({window, packet});
                    }
            }
        for (auto const& [number, turn] : far_) held.insert(held.end(), turn.packets.begin(), turn.packets.end());
    }
    stream(part_shift_, current_, held);
    if (!stream.restoring()) return;
    for (auto const& [window, packet] : held) push(window, packet.offset) = packet;
}

}  // namespace orrery
