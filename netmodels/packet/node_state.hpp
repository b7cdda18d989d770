// SPDX-License-Identifier: Apache-2.0
// State of ports, nodes and flows for the engine with queues and feedback. Plain data.
#pragma once

#include "core/state.hpp"
#include "netmodels/packet/packet.hpp"
#include "netmodels/packet/port_meter.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::packet_detail {

inline constexpr std::uint32_t none = ~0U;

struct Fifo {
    std::uint32_t head = none, tail = none;
};

// Packets that wait in queues. Slots of the pool are addresses, never part of an order.
class WaitingPool {
  public:
    void push(Fifo& fifo, Packet const& packet) {
        auto slot = free_;
        if (slot == none) {
            slot = static_cast<std::uint32_t>(packets_.size());
            packets_.emplace_back();
            next_.push_back(none);
        } else {
            free_ = next_[slot];
        }
        packets_[slot] = packet;
        next_[slot] = none;
        if (fifo.head == none)
            fifo.head = slot;
        else
            next_[fifo.tail] = slot;
        fifo.tail = slot;
    }
    // The packet stays readable until the next push.
    Packet& pop(Fifo& fifo) {
        auto const slot = fifo.head;
        fifo.head = next_[slot];
        next_[slot] = free_;
        free_ = slot;
        if (fifo.head != none) __builtin_prefetch(&packets_[fifo.head]);
        return packets_[slot];
    }
    void fetch(Fifo const& fifo) const {
        if (fifo.head != none) __builtin_prefetch(&packets_[fifo.head]);
    }
    Packet const& front(Fifo const& fifo) const { return packets_[fifo.head]; }
    // Calls visit(packet) from the first to the last.
    template <class Visit>
    void for_each(Fifo const& fifo, Visit const& visit) const {
        for (auto at = fifo.head; at != none; at = next_[at]) visit(packets_[at]);
    }
    void state(StateStream& stream) { stream(packets_, next_, free_); }
    std::int64_t memory_bytes() const {
        return static_cast<std::int64_t>(packets_.capacity() * sizeof(Packet) + next_.capacity() * 4);
    }

  private:
    std::vector<Packet> packets_;
    std::vector<std::uint32_t> next_;
    std::uint32_t free_ = none;
};

// An output port and, for the link that it feeds, what the far end says about its buffer. Two cache lines: what every
// departure touches, then what waiting touches. A port that has nothing queued keeps no event: it is busy until
// `busy_until`.
struct alignas(64) Port {
    Fifo data, control;
    std::int64_t data_bytes = 0;  // queued
    std::int64_t busy_until = 0;
    std::uint64_t chain = 0;
    OpenBin bin;
    std::uint32_t packets = 0;
    bool paused = false, lossy = false;
    bool woken = false;        // its node has a wake for it
    std::uint8_t crossed = 0;  // hops that a packet which leaves has arrived over: 1 at a switch, 0 where it is made

    std::int64_t bytes = 0, max_queue = 0;
    std::int64_t credit = 0;
    std::int64_t paused_since = 0, paused_ps = 0;
    std::uint32_t drops = 0, marks = 0, losses = 0;
    std::uint32_t loss_below = 0;  // a draw of 32 bits below this loses the packet
    std::uint32_t ran = ~0U;       // the window (lower half) in which it was last run by itself
    bool stalled = false;          // out of credit, with packets waiting, since `paused_since`

    bool waits() const { return data.head != none || control.head != none; }
};
static_assert(sizeof(Port) == 128);

// The input side of a link into a switch: what of the switch's buffer its packets hold.
struct Ingress {
    std::int64_t bytes = 0;
    std::int64_t calm = 0;  // up to this at the start of a window no pause can be due before its end
    std::uint32_t returned = 0, notices = 0;
    bool paused = false;
    bool tight = false;  // paused or not calm
};
static_assert(sizeof(Ingress) <= 32);

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
    std::int64_t registered = -1;  // window for which it is on the list
    std::int64_t ran = -1;         // last window in which it was run
    std::uint32_t rank = none;     // of an endpoint
    std::uint32_t answers = 0;     // packets other than data that it has originated
    std::uint32_t tight = 0;       // of its inputs
    bool listed = false;           // among the tight nodes
    bool joint = false;            // its ports are run together, in the order of time
    bool pulling = false;
    std::int64_t shared = 0;  // bytes in its buffers, where these are shared
    // Receiver-driven transports: flows that wait for their pull, and when the next may be sent.
    std::vector<std::uint64_t> pulls;  // process << 32 | slot
    std::size_t pulled = 0;
    std::int64_t pull_at = 0, pull_gap = 0;

    void state(StateStream& stream) {
        stream(heap, registered, ran, rank, answers, tight, listed, joint, pulling, shared, pulls, pulled, pull_at,
               pull_gap);
    }
};

// The sender's half of a flow: one cache line. The state of its transport and of its recovery stand beside it, where
// the run has any.
struct alignas(64) Tx {
    std::uint64_t cookie = 0;
    std::int64_t offered = 0;
    std::uint64_t pace : 44 = 0;  // b/s that the sender prepares bytes at; 0: no limit
    std::uint64_t weight : 16 = 0;
    std::uint64_t by_rule : 1 = 0, listed : 1 = 0, paced : 1 = 0;
    std::uint64_t first : 24 = 0, hop1 : 24 = 0;
    std::uint64_t last_bytes : 15 = 0;
    std::uint64_t hop2 : 24 = 0, last : 24 = 0, left : 6 = 0;
    std::uint64_t credit : 10 = 0;  // of its turns (turns.hpp)
    std::uint32_t origin : 24 = 0;
    std::uint32_t backoff : 4 = 0, timer : 1 = 0, resent : 1 = 0, delivered : 1 = 0, turn : 1 = 0;
    std::uint32_t number = 0;
    std::uint32_t packets = 0, una = 0, next = 0;  // packets 0: free
    std::uint32_t link = none;                     // in the ready list

    Heading heading(std::uint32_t count) const {
        return {.origin = origin,
                .count = count,
                .hop1 = static_cast<std::uint32_t>(hop1),
                .hop2 = static_cast<std::uint32_t>(hop2),
                .last = static_cast<std::uint32_t>(last)};
    }
};
static_assert(sizeof(Tx) == 64);

struct Recovery {
    std::uint64_t acked = 0, lost = 0;  // bit i: packet una + i
    std::int64_t deadline = 0;
    std::uint32_t high = 0;  // packets below have been sent at least once
};

// The receiver's half, with the way back for acknowledgements.
struct Rx {
    std::uint64_t seen = 0;  // bit i: packet base + i
    std::int64_t next_cnp = 0;
    std::uint32_t base = 0, total = none;
    std::uint64_t first : 24 = 0, hop1 : 24 = 0;
    std::uint64_t left : 6 = 0, knows_way : 1 = 0, nacked : 1 = 0, turn : 1 = 0;
    std::uint64_t hop2 : 24 = 0, back : 24 = 0;
};
static_assert(sizeof(Rx) == 40);

}  // namespace orrery::packet_detail
