// SPDX-License-Identifier: Apache-2.0
// State of ports, nodes and flows for the engine with queues and feedback. Plain data.
#pragma once

#include "netmodels/packet/packet.hpp"
#include "netmodels/packet/port_meter.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::packet_detail {

inline constexpr std::uint32_t none = ~0U;

// A packet that waits in a queue. Slots of the pool are addresses, never part of an order.
struct Waiting {
    Packet packet;
    std::uint32_t next = none;
};

struct Fifo {
    std::uint32_t head = none, tail = none;
    std::int64_t bytes = 0;
};

class WaitingPool {
  public:
    void push(Fifo& fifo, Packet const& packet) {
        auto slot = free_;
        if (slot == none) {
            slot = static_cast<std::uint32_t>(all_.size());
            all_.emplace_back();
        } else {
            free_ = all_[slot].next;
        }
        all_[slot] = {packet, none};
        if (fifo.head == none)
            fifo.head = slot;
        else
            all_[fifo.tail].next = slot;
        fifo.tail = slot;
        fifo.bytes += static_cast<std::int64_t>(packet.bytes);
    }
    Packet pop(Fifo& fifo) {
        auto const slot = fifo.head;
        auto const packet = all_[slot].packet;
        fifo.head = all_[slot].next;
        fifo.bytes -= static_cast<std::int64_t>(packet.bytes);
        all_[slot].next = free_;
        free_ = slot;
        return packet;
    }
    Packet const& front(Fifo const& fifo) const { return all_[fifo.head].packet; }
    Waiting const& at(std::uint32_t slot) const { return all_[slot]; }
    std::int64_t memory_bytes() const { return static_cast<std::int64_t>(all_.capacity() * sizeof(Waiting)); }

  private:
    std::vector<Waiting> all_;
    std::uint32_t free_ = none;
};

// An output port and, for the link that it feeds, what the far end says about its buffer. Two cache lines. A port that
// has nothing queued keeps no event: it is busy until `busy_until`, and whoever comes earlier asks for a wake then.
struct alignas(64) Port {
    Fifo data, control;
    std::int64_t busy_until = 0, credit = 0;
    std::uint64_t chain = 0;
    std::uint32_t packets = 0;
    bool woken = false, paused = false, lossy = false;

    OpenBin bin;
    std::int64_t bytes = 0, max_queue = 0;
    std::int64_t paused_since = 0, paused_ps = 0;
    std::uint32_t drops = 0, marks = 0, losses = 0;
    std::uint32_t loss_below = 0;  // a draw of 32 bits below this loses the packet
};
static_assert(sizeof(Port) == 128);

// The input side of a link into a switch: what of the switch's buffer its packets hold.
struct Ingress {
    std::int64_t bytes = 0, returned = 0, most = 0;
    std::uint32_t notices = 0, pauses = 0;
    bool paused = false;
};

// Something a node has to do by itself. Order: (when, key); the key is unique at its node and independent of placement.
struct Wake {
    std::int64_t when = 0;
    std::uint64_t key = 0;
    std::uint32_t what = 0;  // port, flow slot, or pooled packet
    std::uint32_t spare = 0;
    friend bool later(Wake const& a, Wake const& b) { return a.when != b.when ? a.when > b.when : a.key > b.key; }
};

enum class WakeKind : std::uint8_t {
    port = 0,
    start = 1,
    pace = 2,
    timeout = 3,
    emit = 4,
    pull = 5,
    enqueue = 6,
    feed = 7
};
inline std::uint64_t wake_key(WakeKind kind, std::uint64_t id) {
    return static_cast<std::uint64_t>(kind) << 56 | (id & 0xffffffffffffffU);
}

struct Node {
    std::vector<Wake> heap;
    std::int64_t shared = 0;       // bytes in its buffers
    std::int64_t registered = -1;  // window for which it is on the list
    std::int64_t ran = -1;         // last window in which it was run
    std::uint32_t answers = 0;     // packets other than data that it has originated
    // Receiver-driven transports: flows that wait for their pull, and when the next may be sent.
    std::vector<std::uint64_t> pulls;  // process << 32 | slot
    std::size_t pulled = 0;
    std::int64_t pull_at = 0, pull_gap = 0;
    bool pulling = false;
};

// The sender's half of a flow. `Sender` is the transport's own state.
template <class Sender>
struct Tx {
    std::uint64_t cookie = 0;
    std::int64_t offered = 0;
    std::uint64_t acked = 0, lost = 0;  // bit i: packet una + i
    std::int64_t deadline = 0;
    std::uint32_t first = 0, hop1 = 0, hop2 = 0, last = 0;
    std::uint32_t origin = 0, number = 0;
    std::uint32_t packets = 0, una = 0, next = 0, high = 0;  // packets 0: free
    std::uint32_t link = none;                               // in the ready list or the free list
    std::uint16_t last_bytes = 0;
    std::uint8_t left = 0, backoff = 0;
    bool by_rule = false, listed = false, timer = false, resent = false, delivered = false, paced = false, turn = false;
    std::int64_t pace = 0;  // b/s that the sender prepares bytes at; 0: no limit
    Sender sender;
};

// The receiver's half, with the way back for acknowledgements.
struct Rx {
    std::uint64_t seen = 0;  // bit i: packet base + i
    std::int64_t last = 0, next_cnp = 0;
    std::uint32_t base = 0, total = none;
    std::uint32_t first = none, hop1 = 0, hop2 = 0, back = 0;
    std::uint8_t left = 0;
    bool nacked = false, turn = false;
};

}  // namespace orrery::packet_detail
