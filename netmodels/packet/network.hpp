// SPDX-License-Identifier: Apache-2.0
// What every packet engine offers: messages in, deliveries out, one window at a time, on one of several processes.
#pragma once

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/event.hpp"
#include "core/state.hpp"
#include "core/window.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/packet_fabric.hpp"
#include "netmodels/packet/packet_trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct Message {
    RankId source, target;
    Time offered;            // its first byte may leave
    std::int64_t bytes = 0;  // on the wire, cut into packets of one MTU
    std::uint64_t cookie = 0;
    Rate pace;                 // the sender prepares bytes no faster than this; zero: no such limit
    std::uint32_t weight = 1;  // share of the sender's turns, against its other messages of the moment
};

// The last byte has reached the target.
struct Delivery {
    std::uint64_t cookie = 0;
    Time when;
    Time offered;
    RankId source;
    std::uint32_t number = 0;  // of the source's messages, from 0
};

// Messages by rule, so that a million flows are never held at once: each source is asked for its next message when it
// has handed the one before to its network port. Pure: a function of (source, number).
class MessageRule {
  public:
    virtual ~MessageRule() = default;
    // False: the source has no more.
    virtual bool message(RankId source, std::uint32_t number, Message& out) const = 0;
};

// Everything an engine counts over the packets of data. Always: injected = delivered + dropped + in flight.
struct PacketCounters {
    std::int64_t injected = 0, delivered = 0, dropped = 0;  // packets; a retransmission is injected again
    std::int64_t hops = 0;                                  // of all kinds of packets
    std::int64_t messages = 0, messages_done = 0;
    std::int64_t bytes_offered = 0, bytes_delivered = 0;  // each byte of a message once
    std::int64_t marks = 0, pauses = 0, retransmitted = 0, control = 0;
    std::int64_t lost = 0;     // of the dropped: by a lossy link
    std::int64_t blocked = 0;  // of the dropped: no link was left
    std::int64_t stalls = 0;   // times that a switch's port ran out of credit with packets waiting

    void add(PacketCounters const& other);
};

// What one port did over the run.
struct PortFigures {
    std::int64_t bytes = 0, packets = 0, drops = 0, marks = 0;
    std::int64_t busy_ps = 0, paused_ps = 0;  // paused: told to wait, or out of credit with packets waiting
    std::int64_t max_queue = 0;               // bytes
};

// A queue's bytes at the arrival of a packet: bucket 0 is an empty queue, bucket 1 less than one packet of one MTU,
// bucket i from 2 on [2^(i-2), 2^(i-1)) of them; the last one has no end.
inline constexpr std::uint32_t queue_buckets = 16;
using QueueHistogram = std::array<std::int64_t, queue_buckets>;

// The bucket of a queue of `ahead`, where `packet` is one MTU, both in ps or both in bytes: 1 + bit_width(ahead /
// packet), without a division or a branch, neither of which a packet has time for.
inline std::size_t queue_bucket(std::int64_t ahead, std::int64_t packet) {
    auto const waits = static_cast<std::uint64_t>(std::max<std::int64_t>(ahead, 0));
    auto const unit = static_cast<std::uint64_t>(packet);
    auto const more = std::max(0, static_cast<int>(std::bit_width(waits)) - static_cast<int>(std::bit_width(unit)));
    auto const width = static_cast<std::size_t>(more) + (waits >= unit << more ? 1 : 0);
    return std::min<std::size_t>(queue_buckets - 1, ahead > 0 ? 1 + width : 0);
}

// The fewest bytes of a queue in a bucket.
inline std::int64_t queue_bucket_begin(std::size_t bucket, std::int64_t mtu) {
    return bucket < 2 ? static_cast<std::int64_t>(bucket) : mtu << (bucket - 2);
}

class PacketNetwork {
  public:
    virtual ~PacketNetwork() = default;

    // Before any window that ends after `message.offered` has run. The source must be of this process.
    virtual void offer(Message const& message) = 0;
    // Sources of this process draw their messages from the rule, which outlives the engine. Before the first window.
    virtual void follow(MessageRule const& rule) = 0;

    // When there is something to do; infinity when idle.
    virtual Time next() const = 0;
    // Everything that happens in `window`, none of which may lie before it. Windows have one width, at most
    // PacketFabric::lookahead().
    virtual void run(Window const& window) = 0;

    // Packets for other processes, as records of the exchange (packet_mail.hpp), and the earliest arrival among them.
    virtual std::vector<std::vector<Event>>& outgoing() = 0;
    virtual Time earliest_sent() const = 0;  // of the last window
    virtual void arrive(std::span<Event const> records) = 0;

    // Deliveries of this process's sources since the last call, in no promised order; the caller clears them. With
    // PacketSettings::prompt a delivery is told at the end of the window in which the last packet leaves for its
    // target, which is before `when` if windows are at most PacketFabric::prompt_lookahead() wide; but with
    // go-back-N or pulls, where only the arrival decides, up to one window after it.
    virtual std::vector<Delivery>& deliveries() = 0;
    virtual PacketCounters counters() const = 0;
    virtual std::int64_t in_flight() const = 0;  // packets that this process holds
    virtual PortFigures figures(std::uint32_t port) const = 0;
    virtual QueueHistogram queues(std::uint32_t link_class) const = 0;
    // Bytes of one input link above which it is paused; zero: links are never paused, or the threshold moves.
    virtual std::int64_t pause_threshold() const { return 0; }
    virtual LinkTraffic& traffic() = 0;
    // Of the packets that PacketSettings::trace asks for: this process's first ones, in no order.
    virtual std::vector<PacketTraceRow> trace() const { return {}; }
    // Over the ports and sources of this process.
    virtual Digest digest() const = 0;
    virtual std::int64_t flow_state_bytes() const = 0;
    virtual std::int64_t memory_bytes() const = 0;
    // Messages that cannot finish although time could pass: cookies.
    virtual std::vector<std::uint64_t> starved() const = 0;
    // What keeps them, in sentences: links that drop, a cycle of full buffers. Empty when nothing does.
    virtual std::string diagnosis() const { return {}; }
    // Saves, or restores into a network made alike, everything since its construction. Between two windows.
    virtual void state(StateStream& stream) = 0;
};

}  // namespace orrery
