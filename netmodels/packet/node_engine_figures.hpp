// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, last part: what it tells about itself, and why flows cannot finish.
#pragma once

#include "netmodels/packet/node_engine.hpp"

#include <type_traits>

namespace orrery {

template <class T>
PortFigures NodeEngine<T>::figures(std::uint32_t port) const {
    auto const& p = ports_[port];
    return {.bytes = p.bytes,
            .packets = p.packets,
            .drops = p.drops + p.losses,
            .marks = p.marks,
            .busy_ps = fabric_.port(port).rate == 0
                           ? 0
                           : transfer_time(p.bytes, Rate::from_bits_per_s(fabric_.port(port).rate)).ps(),
            .paused_ps = so_far(port, ran_until_).paused_ps,
            .max_queue = max_queue(port)};
}

template <class T>
PortSoFar NodeEngine<T>::so_far(std::uint32_t port, std::int64_t at) const {
    auto const& p = ports_[port];
    bool const waits = p.paused || p.stalled;
    return {.busy_until = p.busy_until,
            .paused_ps = p.paused_ps + (waits ? std::max<std::int64_t>(0, at - p.paused_since) : 0),
            .max_queue = p.max_queue,
            .marks = p.marks,
            .drops = p.drops + p.losses,
            .waits = waits || p.data_bytes > 0};
}

template <class T>
Digest NodeEngine<T>::digest() const {
    Digest digest;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        if (!mine(fabric_.from(p))) continue;
        DigestChain chain;
        for (auto const word :
             {ports_[p].chain, static_cast<std::uint64_t>(max_queue(p)), std::uint64_t{ports_[p].drops},
              std::uint64_t{ports_[p].marks}, static_cast<std::uint64_t>(ports_[p].paused_ps)})
            chain.add(word);
        digest.add(fabric_.link(p).value(), chain);
    }
    add_delivered(digest, fabric_, done_digest_, [this](std::uint32_t node) { return mine(node); });
    return digest;
}

template <class T>
std::int64_t NodeEngine<T>::flow_state_bytes() const {
    return static_cast<std::int64_t>(sizeof(Tx) + sizeof(Rx) + (std::is_empty_v<Sender> ? 0 : sizeof(Sender)) +
                                     (recovers_ ? sizeof(Recovery) : 0) + (foresees_ ? sizeof(latest_[0][0]) : 0));
}

// Counted, not kept: it is what a run is checked against.
template <class T>
std::int64_t NodeEngine<T>::in_flight() const {
    std::int64_t held = 0;
    auto const count = [&](Packet const& packet) { held += packet.kind() == PacketKind::data ? 1 : 0; };
    for (auto const& calendar : calendars_) calendar.for_each(count);
    for (auto const& port : ports_)
        for (auto const& queue : {port.data, port.control}) pool_.for_each(queue, count);
    for (auto const& node : nodes_)
        for (auto const& wake : node.heap)
            if (static_cast<WakeKind>(wake.key >> 56) == WakeKind::enqueue) pool_.for_each({.head = wake.what}, count);
    return held;
}

template <class T>
std::int64_t NodeEngine<T>::memory_bytes() const {
    std::size_t bytes = ports_.size() * (sizeof(Port) + sizeof(Ingress)) + nodes_.size() * sizeof(Node) +
                        tx_.capacity() * sizeof(Tx) + senders_.capacity() * sizeof(Sender) +
                        recovery_.capacity() * sizeof(Recovery) + ready_.size() * sizeof(Ready);
    for (auto const& table : rx_) bytes += table.capacity() * sizeof(Rx);
    return static_cast<std::int64_t>(bytes) + calendars_[0].memory_bytes() + calendars_[1].memory_bytes() +
           at_ports_.memory_bytes() + at_endpoints_.memory_bytes() + pool_.memory_bytes() + meter_.memory_bytes();
}

template <class T>
void NodeEngine<T>::state(StateStream& stream) {
    stream(ports_, ingress_, nodes_, ready_, pool_, tx_, senders_, recovery_, rx_, latest_, retired_, target_in_,
           numbers_, done_digest_, calendars_, carried_, tight_, woken_, width_, begin_, end_, window_, ran_until_,
           rule_now_, deliveries_, counters_, queues_, loads_, meter_, trace_);
}

template <class T>
std::vector<std::uint64_t> NodeEngine<T>::starved() const {
    std::vector<std::uint64_t> cookies;
    if (next() < Time::infinity()) return cookies;
    for (auto const& tx : tx_)
        if (tx.packets > 0 && !tx.delivered) cookies.push_back(tx.cookie);
    return cookies;
}

// A port that may not send waits for room behind its link; that room is held by packets which wait at the ports of the
// node behind it. Following these waits from port to port comes back to where it began exactly when there is a
// deadlock.
template <class T>
std::string NodeEngine<T>::diagnosis() const {
    std::string text;
    for (std::uint32_t p = 0; p < ports_.size() && text.size() < 400; ++p)
        if (fabric_.changes() && fabric_.up_from(p, ran_until_) == PacketFabric::never)
            text +=
                fmt::format("{}link {} is down", text.empty() ? "" : "; ", fabric_.fabric().link_name(fabric_.link(p)));
    if (settings_.lossless == Lossless::off) {
        for (std::uint32_t p = 0; p < ports_.size() && text.size() < 400; ++p)
            if (ports_[p].drops > 0)
                text += fmt::format("{}link {} dropped {} packets", text.empty() ? "" : "; ",
                                    fabric_.fabric().link_name(fabric_.link(p)), ports_[p].drops);
        return text;
    }
    if (!text.empty()) return text;
    auto const blocked = [&](std::uint32_t p) {
        auto const& port = ports_[p];
        return port.data.head != none;
    };
    // waits[p]: a port whose packets hold the room that p waits for.
    std::vector<std::uint32_t> waits(ports_.size(), none);
    for (std::uint32_t q = 0; q < ports_.size(); ++q) {
        if (!blocked(q)) continue;
        pool_.for_each(ports_[q].data, [&](Packet const& packet) {
            auto const in = static_cast<std::uint32_t>(packet.in);
            if (waits[in] == none && blocked(in)) waits[in] = q;
        });
    }
    std::vector<std::uint32_t> seen(ports_.size(), 0);
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        auto at = p;
        while (at != none && seen[at] == 0) {
            seen[at] = p + 1;
            at = waits[at];
        }
        if (at == none || seen[at] != p + 1) continue;
        text = "deadlock, each of these links waits for room behind it that packets for the next one hold:";
        auto const start = at;
        do {
            text += " " + fabric_.fabric().link_name(fabric_.link(at));
            at = waits[at];
        } while (at != start);
        return text;
    }
    return {};
}

}  // namespace orrery
