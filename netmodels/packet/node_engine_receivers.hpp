// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, fifth part: receivers, acknowledgements and what senders make of them.
#pragma once

#include "netmodels/packet/node_engine.hpp"

#include <bit>
#include <utility>

namespace orrery {

template <class T>
void NodeEngine<T>::received(std::uint32_t node, Packet& packet, std::int64_t now) {
    switch (packet.kind()) {
        case PacketKind::data:
            return received_data(node, packet, now);
        case PacketKind::ack:
            return acked(packet, now);
        case PacketKind::nack:
            return nacked(packet, now);
        case PacketKind::cnp:
            transport_.congested(senders_[packet.slot], now);
            return;
        case PacketKind::credit:
            if (tx_[packet.slot].packets == 0) return;
            transport_.credited(senders_[packet.slot]);
            return list(packet.slot, now);
        default:
            ORRERY_ENSURE(false, "an endpoint got a packet of kind {}", static_cast<int>(packet.kind()));
    }
}

// What the receiver knows of the packet's flow.
template <class T>
inline packet_detail::Rx& NodeEngine<T>::receiver_of(std::uint32_t process, Packet const& packet) {
    auto& table = rx_[process];
    if (packet.slot >= table.size()) table.resize(std::max<std::size_t>(packet.slot + 1, table.size() * 3 / 2));
    auto& rx = table[packet.slot];
    if (rx.turn != packet.turn) {
        rx = {};
        rx.turn = packet.turn & 1;
    }
    return rx;
}

// Takes a whole packet into account (of flows that are taken in order, the next one); false: it has come before.
template <class T>
inline bool NodeEngine<T>::take(Rx& rx, Packet const& packet) {
    auto const sequence = sequence_of(packet);
    if (packet.final) rx.total = sequence + 1;
    if (!T::acks || counts_ || in_order_) {
        ++rx.base;
    } else {
        // Never more than `reach` ahead: the sender knows of no packet that the receiver does not.
        if (sequence < rx.base || (rx.seen >> (sequence - rx.base) & 1) != 0) return false;
        rx.seen |= std::uint64_t{1} << (sequence - rx.base);
        auto const run = static_cast<std::uint32_t>(std::countr_one(rx.seen));
        rx.base += run;
        rx.seen = run == 64 ? 0 : rx.seen >> run;
    }
    counters_.bytes_delivered += static_cast<std::int64_t>(packet.bytes);
    return true;
}

// Its last bit will be at its target at `arrival`, whatever else happens.
template <class T>
void NodeEngine<T>::foresee(Packet const& packet, std::int64_t arrival) {
    auto const process = process_of(static_cast<std::uint32_t>(packet.origin));
    auto& rx = receiver_of(process, packet);
    auto& table = latest_[process];
    if (packet.slot >= table.size()) table.resize(rx_[process].size(), 0);
    auto& latest = table[packet.slot];
    latest = std::max(latest, arrival);
    if (!take(rx, packet) || rx.base != rx.total) return;
    complete(process, packet, std::exchange(latest, 0));
}

// Every byte of the packet's flow has arrived by `when`.
template <class T>
void NodeEngine<T>::complete(std::uint32_t process, Packet const& packet, std::int64_t when) {
    if (process == share_.me) return delivered(packet.slot, when);
    earliest_sent_ = std::min(earliest_sent_, Time::from_ps(end_));
    mail_.complete(process, packet.slot, when);
}

template <class T>
void NodeEngine<T>::received_data(std::uint32_t node, Packet& packet, std::int64_t now) {
    if constexpr (!T::acks)
        if (foresees_ && !packet.trimmed) {
            ++counters_.delivered;
            return;
        }
    auto const process = process_of(static_cast<std::uint32_t>(packet.origin));
    auto& rx = receiver_of(process, packet);
    auto const sequence = sequence_of(packet);
    bool const whole = rx.base == rx.total;
    if constexpr (T::pulls) {
        if (!whole) {
            nodes_[node].pulls.push_back(static_cast<std::uint64_t>(process) << 32 | packet.slot);
            if (!nodes_[node].pulling) {
                nodes_[node].pulling = true;
                wake(node, std::max(now, nodes_[node].pull_at), WakeKind::pull, 0, 0);
            }
        }
    }
    if (packet.trimmed) {
        ++counters_.dropped;
        if constexpr (T::acks) answer(node, rx, packet, PacketKind::nack, sequence, now);
        return;
    }
    ++counters_.delivered;
    bool fresh = false;
    if (in_order_) {
        fresh = sequence == rx.base;
        if (fresh) {
            rx.nacked = 0;
            fresh = take(rx, packet);
        } else if (sequence > rx.base) {
            if (!rx.nacked) answer(node, rx, packet, PacketKind::nack, rx.base, now);
            rx.nacked = 1;
            return;
        }
    } else if (!foresees_) {
        fresh = take(rx, packet);
    }
    if constexpr (T::notices) {
        if (packet.marked && now >= rx.next_cnp) {
            rx.next_cnp = now + settings_.cnp_interval.ps();
            answer(node, rx, packet, PacketKind::cnp, 0, now);
        }
    }
    if constexpr (T::acks) answer(node, rx, packet, PacketKind::ack, in_order_ ? rx.base - 1 : sequence, now);
    if (fresh && rx.base == rx.total) complete(process, packet, now);
}

template <class T>
void NodeEngine<T>::answer(std::uint32_t node, Rx& rx, Packet const& packet, PacketKind kind, std::uint32_t sequence,
                           std::int64_t now) {
    auto const here = nodes_[node].rank;
    if (!rx.knows_way) {
        auto const way = packet_way(fabric_, map_, RankId{here}, RankId{static_cast<std::uint32_t>(packet.origin)});
        rx.first = way.first & id_mask;
        rx.hop1 = way.hop1 & id_mask;
        rx.hop2 = way.hop2 & id_mask;
        rx.back = way.last & id_mask;
        rx.left = way.left & 63;
        rx.knows_way = 1;
    }
    if (T::telemetry && kind == PacketKind::ack) sequence |= packet.seq_high << 16;
    Packet back;
    back.set_out(
        PacketLoad::of(here, nodes_[node].answers++ & id_mask, settings_.ack_bytes, 0, packet.slot, rx.back, sequence),
        {.next = static_cast<std::uint32_t>(rx.hop1) & id_mask,
         .left = std::min<std::uint32_t>(rx.left, PacketFabric::carried_hops - 1) & 3,
         .kind_bits = static_cast<std::uint32_t>(kind) & 7,
         .in = rx.first & id_mask,  // until it leaves: the bundle over which it does
         .hop2 = rx.hop2 & id_mask,
         .seq_low = sequence & 0xffff});
    ++counters_.control;
    if (kind == PacketKind::cnp && settings_.cnp_delay > Time{}) {
        packet_detail::Fifo one;
        pool_.push(one, back);
        return wake(node, now + settings_.cnp_delay.ps(), WakeKind::emit, back.count, one.head);
    }
    reply(node, back, now);
}

template <class T>
void NodeEngine<T>::reply(std::uint32_t node, Packet& packet, std::int64_t now) {
    auto const group = fabric_.group(static_cast<std::uint32_t>(packet.in), node);
    auto heading = packet.heading();
    heading.hop1 = packet.next;
    auto const behind = fabric_.hops_behind(packet.left, heading.hop2, true);
    auto const port = chooser_.choose(heading, group, node, behind, true, now);
    if (port == LinkChooser::no_port) return;
    auto& state = ports_[port];
    if (state.busy_until <= now && state.control.head == none && up(port, state, now))
        return transmit(port, packet, now);
    pool_.push(state.control, packet);
    if (state.busy_until > now) wake_port(port);
}

template <class T>
void NodeEngine<T>::acked(Packet const& packet, std::int64_t now) {
    auto const slot = packet.slot;
    auto& tx = tx_[slot];
    if (tx.packets == 0) return;
    auto const sequence = sequence_of(packet);
    if (counts_) {
        ++tx.una;
    } else if (settings_.recovery == Recovering::go_back_n) {
        if (sequence + 1 <= tx.una || sequence >= recovery_[slot].high) return;
        tx.una = sequence + 1;
        tx.next = std::max(tx.next, tx.una);
    } else {
        if (sequence < tx.una || sequence - tx.una >= reach) return;
        auto const bit = std::uint64_t{1} << (sequence - tx.una);
        auto& recovery = recovery_[slot];
        recovery.acked |= bit;
        recovery.lost &= ~bit;
        auto const run = static_cast<std::uint32_t>(std::countr_one(recovery.acked));
        tx.una += run;
        recovery.acked = run == 64 ? 0 : recovery.acked >> run;
        recovery.lost = run == 64 ? 0 : recovery.lost >> run;
    }
    tx.backoff = 0;
    if (can_lose_) recovery_[slot].deadline = now + timeout_;
    if constexpr (T::telemetry)
        transport_.measured(senders_[slot], static_cast<std::uint8_t>(packet.seq_high), sequence, tx.next);
    transport_.acked(senders_[slot], sequence, now);
    if (tx.una == tx.packets && tx.delivered) return retire(slot);
    list(slot, now);
}

template <class T>
void NodeEngine<T>::nacked(Packet const& packet, std::int64_t now) {
    auto& tx = tx_[packet.slot];
    auto const sequence = sequence_of(packet);
    if (!recovers_ || tx.packets == 0) return;
    auto& recovery = recovery_[packet.slot];
    if (sequence < tx.una || sequence >= recovery.high) return;
    if (settings_.recovery == Recovering::go_back_n) {
        tx.una = sequence;
        tx.next = sequence;
    } else if (sequence - tx.una < reach && (recovery.acked >> (sequence - tx.una) & 1) == 0) {
        recovery.lost |= std::uint64_t{1} << (sequence - tx.una);
    }
    list(packet.slot, now);
}

// The receiver's pacer: one pull per packet time of its links, flows in the order in which they asked.
template <class T>
void NodeEngine<T>::pull_next(std::uint32_t n, std::int64_t now) {
    auto& node = nodes_[n];
    while (node.pulled < node.pulls.size()) {
        auto const entry = node.pulls[node.pulled++];
        auto const process = static_cast<std::uint32_t>(entry >> 32);
        auto& rx = rx_[process][static_cast<std::uint32_t>(entry)];
        if (rx.base == rx.total || !rx.knows_way) continue;
        Packet packet;
        packet.slot = static_cast<std::uint32_t>(entry);
        answer(n, rx, packet, PacketKind::credit, 0, now);
        node.pull_at = now + node.pull_gap;
        return wake(n, node.pull_at, WakeKind::pull, 0, 0);
    }
    node.pulls.clear();
    node.pulled = 0;
    node.pulling = false;
}

template <class T>
void NodeEngine<T>::delivered(std::uint32_t slot, std::int64_t when) {
    auto& tx = tx_[slot];
    ++counters_.messages_done;
    tx.delivered = 1;
    done_digest_[tx.origin] += DigestChain::mix(DigestChain::mix(tx.number + 1) + static_cast<std::uint64_t>(when));
    deliveries_.push_back({tx.cookie, Time::from_ps(when), Time::from_ps(tx.offered), RankId{tx.origin}, tx.number});
    if (!T::acks || tx.una == tx.packets) retire(slot);
}

template <class T>
void NodeEngine<T>::retire(std::uint32_t slot) {
    auto& tx = tx_[slot];
    tx.packets = 0;
    // Copies of a packet that was sent twice may still be on their way: such a slot is not used again.
    if (!tx.resent) retired_[target_in_[slot]].slots.push_back({end_, slot});
}

}  // namespace orrery
