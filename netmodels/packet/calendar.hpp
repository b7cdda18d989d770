// SPDX-License-Identifier: Apache-2.0
// Packets in flight, by the window in which they arrive.
#pragma once

#include "core/check.hpp"
#include "netmodels/packet/packet.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace orrery {

// A ring of windows whose packets lie in blocks of 4 KiB from one pool: memory is what is in flight, and a packet is
// written once and read once. Windows beyond the ring wait in a list per turn of the ring.
class PacketCalendar {
  public:
    static constexpr std::uint32_t block_packets = 128;
    using Block = std::array<Packet, block_packets>;

    void push(std::int64_t window, Packet const& packet) {
        auto const ahead = window - current_;
        ORRERY_EXPECT(ahead >= 0);
        if (ahead >= ring_size) [[unlikely]]
            return push_far(window, packet);
        put(static_cast<std::size_t>(window & (ring_size - 1)), packet);
    }
    // Makes `window` current: nothing earlier may be pending.
    void open(std::int64_t window);
    // The packets of the current window. While they are read none may be pushed into it.
    std::uint32_t size() const { return ring_[place()].size; }
    Packet& at(std::uint32_t i) { return (*opened_[i / block_packets])[i % block_packets]; }
    // Forgets them.
    void close();
    // The earliest window that holds a packet, or the largest integer.
    std::int64_t next() const;
    std::int64_t pending() const { return pending_; }
    std::int64_t memory_bytes() const { return static_cast<std::int64_t>(all_.size() * sizeof(Block)); }

    static constexpr std::int64_t never = std::int64_t{1} << 62;

  private:
    static constexpr std::int64_t ring_size = 512;
    struct Bucket {
        std::uint32_t size = 0;
        std::vector<Block*> blocks;
    };
    struct Far {
        std::int64_t window;
        Packet packet;
    };
    struct Turn {
        std::int64_t earliest = never;
        std::vector<Far> packets;
    };

    std::size_t place() const { return static_cast<std::size_t>(current_ & (ring_size - 1)); }
    void put(std::size_t place, Packet const& packet) {
        auto& bucket = ring_[place];
        auto const at = bucket.size % block_packets;
        if (at == 0) add_block(place);
        (*bucket.blocks.back())[at] = packet;
        ++bucket.size;
        ++pending_;
    }
    void add_block(std::size_t place);
    void push_far(std::int64_t window, Packet const& packet);

    Block* const* opened_ = nullptr;
    std::int64_t current_ = 0;
    std::int64_t pending_ = 0;
    std::array<Bucket, ring_size> ring_;
    std::array<std::uint64_t, ring_size / 64> occupied_{};
    std::map<std::int64_t, Turn> far_;  // by turn of the ring
    std::vector<Block*> free_;
    std::vector<std::unique_ptr<Block>> all_;
};

}  // namespace orrery
