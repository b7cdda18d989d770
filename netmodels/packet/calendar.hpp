// SPDX-License-Identifier: Apache-2.0
// Packets in flight, by the window in which they arrive.
#pragma once

#include "core/check.hpp"
#include "core/state.hpp"
#include "netmodels/packet/packet.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace orrery {

// A ring of windows, each in a few parts by time, whose packets lie in blocks of 2 KiB from one pool: memory is what is
// in flight, and a packet is written once and read once. Parts are what makes the sort of a window cheap: read part by
// part, a window's packets are nearly in order. Windows beyond the ring wait in a list per turn of the ring.
class PacketCalendar {
  public:
    // All windows have this width, known before anything is pushed.
    void set_width(std::int64_t width) {
        part_shift_ = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(width - 1))) - part_bits);
    }
    // Where in which window `ahead` ps after the begin of `window` lie. Most packets arrive in the next two windows, in
    // which of them nobody can predict.
    struct Due {
        std::int64_t window;
        std::uint32_t offset;
    };
    static Due due(std::int64_t window, std::int64_t ahead, std::int64_t width) {
        if (ahead >= 3 * width) [[unlikely]]
            return {window + ahead / width, static_cast<std::uint32_t>(ahead % width)};
        auto const whole = (ahead >= width ? 1 : 0) + (ahead >= 2 * width ? 1 : 0);
        return {window + whole, static_cast<std::uint32_t>(ahead - whole * width)};
    }
    // The place for a packet that arrives `offset` ps into `window`: to be filled in at once.
    Packet& push(std::int64_t window, std::uint32_t offset) {
        auto const ahead = window - current_;
        ORRERY_EXPECT(ahead >= 0);
        if (ahead >= windows) [[unlikely]]
            return push_far(window);
        auto const place = place_of(window) + (offset >> part_shift_);
        auto& bucket = ring_[place];
        if (bucket.free == bucket.end) [[unlikely]]
            add_block(place);
        return *bucket.free++;
    }
    // Makes `window` current: nothing earlier may be pending. While its packets are read none may be pushed into it.
    void open(std::int64_t window);
    // Indices of the packets of the current window lie below this; not all of them are in use.
    std::uint32_t index_end() const { return static_cast<std::uint32_t>(opened_.size()) * block_packets; }
    Packet& at(std::uint32_t index) { return (*opened_[index / block_packets].block)[index % block_packets]; }
    // Calls visit(index, packet) for each, about in the order of their times.
    template <class Visit>
    void for_each_open(Visit const& visit) {
        std::uint32_t first = 0;
        for (auto const& [block, size] : opened_) {
            for (std::uint32_t i = 0; i < size; ++i) visit(first + i, (*block)[i]);
            first += block_packets;
        }
    }
    // Forgets them.
    void close();
    // The earliest window that holds a packet, or `never`.
    std::int64_t next() const;
    // Calls visit(packet) for every packet held, in no particular order.
    template <class Visit>
    void for_each(Visit const& visit) const {
        for (auto const& bucket : ring_)
            for (auto const* block : bucket.blocks)
                for (auto const& packet : *block) {
                    if (&packet == bucket.free) break;
                    visit(packet);
                }
        for (auto const& [turn, far] : far_)
            for (auto const& entry : far.packets) visit(entry.packet);
    }
    std::int64_t memory_bytes() const { return static_cast<std::int64_t>(all_.size() * sizeof(Block)); }
    // Between windows: none is open.
    void state(StateStream& stream);

    static constexpr std::int64_t never = std::int64_t{1} << 62;

  private:
    static constexpr std::uint32_t block_packets = 64;
    static constexpr int part_bits = 4;
    static constexpr std::int64_t windows = 32;
    static constexpr std::size_t places = static_cast<std::size_t>(windows) << part_bits;
    using Block = std::array<Packet, block_packets>;

    struct Bucket {
        Packet *free = nullptr, *end = nullptr;  // what is left of the last block
        std::vector<Block*> blocks;
    };
    struct Opened {
        Block* block;
        std::uint32_t size;
    };
    struct Far {
        std::int64_t window;
        Packet packet;
    };
    struct Turn {
        std::int64_t earliest = never;
        std::vector<Far> packets;
    };

    static std::size_t place_of(std::int64_t window) {
        return static_cast<std::size_t>(window & (windows - 1)) << part_bits;
    }
    void add_block(std::size_t place);
    Packet& push_far(std::int64_t window);

    int part_shift_ = 0;
    std::int64_t current_ = 0;
    std::vector<Opened> opened_;
    std::array<Bucket, places> ring_;
    std::array<std::uint64_t, places / 64> occupied_{};
    std::map<std::int64_t, Turn> far_;  // by turn of the ring
    std::vector<Block*> free_;
    std::vector<std::unique_ptr<Block>> all_;
};

}  // namespace orrery
