// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, fourth part: senders, their flows in turn, timeouts.
#pragma once

#include "netmodels/packet/node_engine.hpp"

#include <bit>

namespace orrery {

template <class T>
void NodeEngine<T>::offer(Message const& message) {
    admit_message(message, numbers_[message.source.index()], false);
}

template <class T>
void NodeEngine<T>::follow(MessageRule const& rule) {
    rule_ = &rule;
    for (std::uint32_t r = 0; r < numbers_.size(); ++r)
        if (auto const node = fabric_.node_of(RankId{r}); node != none && mine(node)) draw(r);
}

template <class T>
void NodeEngine<T>::draw(std::uint32_t origin) {
    Message message;
    if (rule_->message(RankId{origin}, numbers_[origin], message)) admit_message(message, numbers_[origin], true);
}

template <class T>
void NodeEngine<T>::admit_message(Message const& message, std::uint32_t number, bool by_rule) {
    auto const cut = cut_message(fabric_, map_, settings_.mtu, message);
    std::uint32_t slot = 0;
    auto const process = process_of(message.target.value());
    auto& retired = retired_[process];
    if (retired.reused < retired.slots.size() && retired.slots[retired.reused].since + quarantine_ <= begin_) {
        slot = retired.slots[retired.reused++].slot;
        if (retired.reused == 4096) {
            retired.slots.erase(retired.slots.begin(), retired.slots.begin() + 4096);
            retired.reused = 0;
        }
    } else {
        slot = static_cast<std::uint32_t>(tx_.size());
        target_in_.push_back(process);
        tx_.emplace_back();
        tx_.back().turn = 1;
        senders_.emplace_back();
        if (recovers_) recovery_.emplace_back();
    }
    ++numbers_[message.source.index()];
    ORRERY_VALIDATE(cut.packets < most_packets,
                    "a message of {} bytes has {} packets (at most {} with a transport whose packets carry telemetry); "
                    "raise the MTU or use another transport",
                    cut.bytes, cut.packets, most_packets - 1);
    auto const node = fabric_.node_of(message.source);
    ORRERY_VALIDATE(message.pace.bits_per_s() < std::int64_t{1} << 44,
                    "a sender prepares {} b/s (the packet model counts up to 17 Tb/s); use the flow model",
                    message.pace.bits_per_s());
    Tx tx;
    tx.timer = tx_[slot].timer & 1;
    tx.turn = tx_[slot].turn == 0 ? 1 : 0;
    tx.cookie = message.cookie;
    tx.offered = message.offered.ps();
    tx.pace = static_cast<std::uint64_t>(message.pace.bits_per_s()) & ((std::uint64_t{1} << 44) - 1);
    tx.first = cut.way.first & id_mask;
    tx.hop1 = cut.way.hop1 & id_mask;
    tx.hop2 = cut.way.hop2 & id_mask;
    tx.last = cut.way.last & id_mask;
    tx.origin = message.source.value() & id_mask;
    tx.number = number;
    tx.packets = cut.packets;
    tx.last_bytes = cut.last_bytes & 0x7fff;
    tx.weight = std::min(message.weight, Turns::most_weight) & 0xffff;
    tx.left = cut.way.left & 63;
    tx.by_rule = by_rule ? 1 : 0;
    auto const group = fabric_.group(tx.first, node);
    ORRERY_VALIDATE(group.count > 0, "rank {} has no link left to its target", message.source.value());
    senders_[slot] = {};
    transport_.start(senders_[slot], {fabric_.port(group.first).rate, round_trip_, fabric_.mtu()}, tx.offered);
    if (recovers_) recovery_[slot] = {};
    tx_[slot] = tx;
    ++counters_.messages;
    counters_.bytes_offered += cut.bytes;
    auto const when = std::max(tx.offered, by_rule ? begin_ : ran_until_);
    wake(node, by_rule ? std::max(when, rule_now_) : when, WakeKind::start, number, slot);
    enlist(node);
}

template <class T>
std::uint32_t NodeEngine<T>::ready_of(Tx const& tx, std::uint32_t node, std::int64_t now) const {
    if (settings_.load_balancing != LoadBalancing::ecmp) return tx.first;
    auto const heading = tx.heading(0);
    return chooser_.choose(heading, fabric_.group(tx.first, node), node, tx.left, true, now);
}

template <class T>
bool NodeEngine<T>::has_to_send(std::uint32_t slot) const {
    auto const& tx = tx_[slot];
    auto in_flight = tx.next - tx.una;
    if (recovers_) {
        auto const& recovery = recovery_[slot];
        bool const far = in_flight >= reach;
        in_flight -= static_cast<std::uint32_t>(std::popcount(recovery.acked));
        if (recovery.lost != 0) return !T::pulls || transport_.may_send(senders_[slot], in_flight);
        if (far) return false;
    }
    return tx.next < tx.packets && transport_.may_send(senders_[slot], in_flight);
}

// Puts a flow on the list of those that are ready, and wakes a port that waits for one.
template <class T>
void NodeEngine<T>::list(std::uint32_t slot, std::int64_t now) {
    auto& tx = tx_[slot];
    if (tx.packets == 0 || tx.listed || tx.paced || !has_to_send(slot)) return;
    auto const node = fabric_.node_of(RankId{static_cast<std::uint32_t>(tx.origin)});
    auto const at = ready_of(tx, node, now);
    if (at == LinkChooser::no_port) return;
    auto& ready = ready_[at];
    tx.listed = 1;
    tx.link = none;
    ready.turns.join(static_cast<std::uint32_t>(tx.weight));
    if (ready.head == none) {
        ready.head = ready.tail = slot;
    } else if (ready.turns.open(slot)) {
        tx.link = ready.head;
        ready.head = slot;
    } else {
        tx_[ready.tail].link = slot;
        ready.tail = slot;
    }
    // Ports start once all that becomes ready in this instant is on the list.
    feed_at(node, at, now);
}

// Takes the first flow off the list.
template <class T>
inline void NodeEngine<T>::unlist(Ready& ready) {
    auto& tx = tx_[ready.head];
    ready.turns.leave(static_cast<std::uint32_t>(tx.weight));
    ready.head = tx.link;
    tx.listed = 0;
}

// Sends the first flow, whose turn is worth no packet, to the end of the list.
template <class T>
inline void NodeEngine<T>::pass_on(Ready& ready) {
    auto const slot = ready.head;
    if (slot == ready.tail) return;
    ready.head = tx_[slot].link;
    tx_[slot].link = none;
    tx_[ready.tail].link = slot;
    ready.tail = slot;
}

template <class T>
void NodeEngine<T>::feed_at(std::uint32_t node, std::uint32_t at, std::int64_t when) {
    auto& ready = ready_[at];
    if (ready.waiting && ready.fed_at <= when) return;
    ready.waiting = true;
    ready.fed_at = when;
    wake(node, when, WakeKind::feed, at, at);
}

template <class T>
bool NodeEngine<T>::open_for_data(std::uint32_t port) const {
    auto const& state = ports_[port];
    return !state.paused && state.credit >= static_cast<std::int64_t>(fabric_.mtu());
}

// The port over which the next packet of a flow leaves: as dealt, or the next one that may send at all.
template <class T>
std::uint32_t NodeEngine<T>::next_port(Tx const& tx, std::uint32_t node, std::uint32_t at, std::int64_t now) const {
    if (settings_.load_balancing == LoadBalancing::ecmp) return open_for_data(at) ? at : LinkChooser::no_port;
    auto const group = fabric_.group(tx.first, node);
    auto const heading = tx.heading(ready_[at].count & id_mask);
    if (settings_.load_balancing == LoadBalancing::adaptive) {
        auto const port = chooser_.least(heading, group, node, tx.left, true, now, [&](std::uint32_t p) {
            return open_for_data(p) ? ports_[p].busy_until : PacketSettings::unbounded;
        });
        return port != LinkChooser::no_port && open_for_data(port) ? port : LinkChooser::no_port;
    }
    auto port = chooser_.choose(heading, group, node, tx.left, true, now);
    for (std::uint32_t tried = 0; tried < group.count && port != LinkChooser::no_port; ++tried) {
        if (open_for_data(port) && (tried == 0 || fabric_.leads_on(port, heading, tx.left, now))) return port;
        port = port + 1 == group.first + group.count ? group.first : port + 1;
    }
    return LinkChooser::no_port;
}

// Flows in turn as long as the port of the next packet is free.
template <class T>
void NodeEngine<T>::feed(std::uint32_t node, std::uint32_t at, std::int64_t now) {
    auto& ready = ready_[at];
    while (ready.head != none) {
        auto const slot = ready.head;
        auto& tx = tx_[slot];
        if (has_to_send(slot)) {
            // Whose turn it is stays so while its bytes are being prepared or its port is busy.
            if (!ready.turns.open(slot)) {
                tx.credit = ready.turns.take(slot, static_cast<std::uint32_t>(tx.weight),
                                             static_cast<std::uint32_t>(tx.credit)) &
                            (Turns::one - 1);
                if (!ready.turns.open(slot)) {
                    pass_on(ready);
                    continue;
                }
            }
            if (tx.pace > 0 && now < ready.paced_until) return feed_at(node, at, ready.paced_until);
            auto const port = next_port(tx, node, at, now);
            if (port == LinkChooser::no_port) {
                if (!fabric_.changes() ||
                    !leads_nowhere(node, static_cast<std::uint32_t>(tx.first), tx.heading(0), tx.left, now))
                    return;
                unlist(ready);  // the others do not wait for one that never goes
                ready.turns.end();
                continue;
            }
            auto& state = ports_[port];
            if (!up(port, state, now) && fabric_.up_from(port, now) == PacketFabric::never) {
                // Its hashed link has gone for good: another one, if there is any.
                unlist(ready);
                ready.turns.end();
                list(slot, now);
                continue;
            }
            if (state.busy_until > now || state.control.head != none) return wake_port(port);
            unlist(ready);
            ready.turns.sent();
            send_packet(slot, port, now);
            if (ready.head != slot) ready.turns.end();
            continue;
        }
        unlist(ready);
        ready.turns.end();
    }
}

template <class T>
void NodeEngine<T>::send_packet(std::uint32_t slot, std::uint32_t port, std::int64_t now) {
    auto& tx = tx_[slot];
    auto const node = fabric_.from(port);
    auto sequence = tx.next;
    if (recovers_) {
        auto& recovery = recovery_[slot];
        if (recovery.lost != 0) {
            sequence = tx.una + static_cast<std::uint32_t>(std::countr_zero(recovery.lost));
            recovery.lost &= recovery.lost - 1;
        } else {
            ++tx.next;
        }
        if (sequence < recovery.high) {
            ++counters_.retransmitted;
            tx.resent = 1;
        } else {
            recovery.high = sequence + 1;
        }
    } else {
        ++tx.next;
    }
    bool const final = sequence + 1 == tx.packets;
    auto const heading = tx.heading(ready_[list_of(port)].count++ & id_mask);
    Packet packet;
    packet.set_out(PacketLoad::of(heading.origin, heading.count, final ? tx.last_bytes : settings_.mtu, tx.turn, slot,
                                  heading.last, sequence),
                   {.next = heading.hop1 & id_mask,
                    .left = std::min<std::uint32_t>(tx.left, PacketFabric::carried_hops - 1) & 3,
                    .final = final ? 1U : 0U,
                    .hop2 = heading.hop2 & id_mask,
                    .seq_low = sequence & 0xffff});
    ++counters_.injected;
    auto const bytes = static_cast<std::uint32_t>(packet.bytes);
    if (tx.pace > 0)
        ready_[list_of(port)].paced_until = now + PacketFabric::ceil_time(bytes, static_cast<std::int64_t>(tx.pace));
    transport_.sent(senders_[slot], sequence, now);
    auto const gap = transport_.gap(senders_[slot], bytes, now);
    transmit(port, packet, now);
    if (T::acks && can_lose_) arm(slot, now);
    if (!T::acks) tx.una = tx.next;
    if (gap > fabric_.serialisation(port, bytes) &&
        (tx.next < tx.packets || (recovers_ && recovery_[slot].lost != 0))) {
        tx.paced = 1;
        wake(node, now + gap, WakeKind::pace, tx.number, slot);
    }
    bool const all_sent = tx.by_rule != 0 && tx.next == tx.packets;
    if (all_sent) tx.by_rule = 0;
    auto const origin = static_cast<std::uint32_t>(tx.origin);
    list(slot, now);
    if (all_sent) {
        rule_now_ = now;
        draw(origin);  // may move the table of flows
    }
}

template <class T>
void NodeEngine<T>::arm(std::uint32_t slot, std::int64_t now) {
    auto& tx = tx_[slot];
    recovery_[slot].deadline = now + (timeout_ << tx.backoff);
    if (tx.timer) return;
    tx.timer = 1;
    wake(fabric_.node_of(RankId{tx.origin}), recovery_[slot].deadline, WakeKind::timeout, tx.number, slot);
}

template <class T>
void NodeEngine<T>::timed_out(std::uint32_t slot, std::int64_t now) {
    auto& tx = tx_[slot];
    auto& recovery = recovery_[slot];
    tx.timer = 0;
    if (tx.packets == 0 || (tx.una == tx.next && tx.next == recovery.high)) return;
    if (now < recovery.deadline) {
        tx.timer = 1;
        return wake(fabric_.node_of(RankId{tx.origin}), recovery.deadline, WakeKind::timeout, tx.number, slot);
    }
    if (fabric_.changes() && cut_off(tx, now)) return;
    if (settings_.recovery == Recovering::go_back_n) {
        tx.next = tx.una;
    } else {
        auto const sent = tx.next - tx.una;
        recovery.lost = (sent >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sent) - 1) & ~recovery.acked;
    }
    transport_.timed_out(senders_[slot]);
    if (tx.backoff < 8) tx.backoff = (tx.backoff + 1U) & 15;
    tx.resent = 1;
    arm(slot, now);
    list(slot, now);
}

// Has a link gone for good that was the last one on the way from a node?
template <class T>
bool NodeEngine<T>::leads_nowhere(std::uint32_t node, std::uint32_t first, Heading const& heading, std::uint32_t left,
                                  std::int64_t now) const {
    auto const group = fabric_.group(first, node);
    for (std::uint32_t m = 0; m < group.count; ++m)
        if (fabric_.will_lead_on(group.first + m, heading, left, now)) return false;
    return true;
}

// There or back: then repeating would never end.
template <class T>
bool NodeEngine<T>::cut_off(Tx const& tx, std::int64_t now) const {
    auto const source = RankId{tx.origin};
    auto const first = static_cast<std::uint32_t>(tx.first);
    if (leads_nowhere(fabric_.node_of(source), first, tx.heading(0), tx.left, now)) return true;
    auto const node = fabric_.end_of(static_cast<std::uint32_t>(tx.last));
    auto const receiver = RankId{nodes_[node].rank};
    auto const back = packet_way(fabric_, map_, receiver, source);
    return leads_nowhere(node, back.first,
                         {.origin = receiver.value(), .hop1 = back.hop1, .hop2 = back.hop2, .last = back.last},
                         back.left, now);
}

}  // namespace orrery
