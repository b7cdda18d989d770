// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, second part: output ports and their links.
#pragma once

#include "netmodels/packet/node_engine.hpp"

namespace orrery {

template <class T>
void NodeEngine<T>::forward(std::uint32_t node, Packet& packet, std::int64_t now) {
    auto port = static_cast<std::uint32_t>(packet.next);
    if (late_) {
        auto const group = fabric_.group(packet.next, node);
        auto const heading = packet.heading();
        auto const behind = fabric_.hops_behind(packet.left, heading.hop2, false);
        port = chooser_.least(heading, group, node, behind, false, now, [&](std::uint32_t p) {
            // What is ahead of it, in time at the speed of the link.
            return std::max<std::int64_t>(0, ports_[p].busy_until - now) +
                   ports_[p].data_bytes * fabric_.port(p).mtu_time / fabric_.mtu();
        });
        if (port == LinkChooser::no_port) {
            auto const first = fabric_.group(packet.next, node).first;  // of this node, so its times ascend
            meter_.touch(ports_[first].bin, first, now);
            ++counters_.blocked;
            return drop(packet, first, now);
        }
    }
    if (fabric_.mixed_rates() && !fabric_.holds(node)) {
        // A cut-through switch may not run dry: a faster output ends no earlier than the input.
        auto const bytes = static_cast<std::uint32_t>(packet.bytes);
        auto const wait =
            fabric_.serialisation(static_cast<std::uint32_t>(packet.in), bytes) - fabric_.serialisation(port, bytes);
        if (wait > 0) {
            packet_detail::Fifo one;
            pool_.push(one, packet);
            return wake(node, now + wait, WakeKind::enqueue, tie_.draw(packet), one.head, port);
        }
    }
    enqueue(node, port, packet, now);
}

// A packet at a port of a switch that is run jointly.
template <class T>
void NodeEngine<T>::enqueue(std::uint32_t node, std::uint32_t port, Packet& packet, std::int64_t now) {
    auto& state = ports_[port];
    meter_.touch(state.bin, port, now);
    if (lost_for_good(port, packet, now)) return;
    bool control = packet.kind() != PacketKind::data || packet.trimmed;
    if (!control) {
        count_queue(port, state);
        if (!admit(node, port, packet, now)) {
            if (!settings_.trimming) return drop(packet, port, now);
            trim(state, packet);
            control = true;
        }
    }
    if (state.busy_until <= now && state.control.head == none && (control || may_leave(state, packet)) &&
        up(port, state, now)) {
        if (!control) leave(port, packet, now);
        return transmit(port, packet, now);
    }
    wait(state, packet, control);
    if (state.busy_until > now)
        wake_port(port);
    else if (settings_.lossless == Lossless::credit && state.control.head == none)
        stall(port, state, now);
}

// The arrivals of a window at a port that has nothing to do with the others of its switch. What was queued goes first.
template <class T>
void NodeEngine<T>::run_port(std::uint32_t port, Arrival const* first, Arrival const* last) {
    auto& state = ports_[port];
    state.ran = static_cast<std::uint32_t>(window_);
    for (; first != last; ++first) {
        auto const now = begin_ + first->offset();
        auto& packet = calendars_[0].at(first->index);
        if (first + 1 != last) __builtin_prefetch(&calendars_[0].at(first[1].index));
        serve(port, state, now);
        if (to_upstream(packet)) [[unlikely]] {
            if (heed(port, state, packet, now) && state.busy_until <= now) depart_next(port, state, now);
            continue;
        }
        join(port, state, packet, now);
    }
    serve(port, state, end_ - 1);
    carry(port, state);
}

// Whatever is queued and may leave by `until` does.
template <class T>
inline void NodeEngine<T>::serve(std::uint32_t port, Port& state, std::int64_t until) {
    while (state.waits() && state.busy_until <= until && depart_next(port, state, state.busy_until)) {
    }
}

// Like enqueue(), where no pause can be due: a packet that goes on at once takes no room.
template <class T>
inline void NodeEngine<T>::join(std::uint32_t port, Port& state, Packet& packet, std::int64_t now) {
    meter_.touch(state.bin, port, now);
    if (lost_for_good(port, packet, now)) return;
    bool control = packet.kind() != PacketKind::data || packet.trimmed;
    if (!control) {
        count_queue(port, state);
        if (settings_.lossless == Lossless::off &&
            state.data_bytes > settings_.port_buffer - static_cast<std::int64_t>(packet.bytes)) [[unlikely]] {
            if (!settings_.trimming) return drop(packet, port, now);
            trim(state, packet);
            control = true;
        }
    }
    if (state.busy_until <= now && state.control.head == none && (control || may_leave(state, packet)) &&
        up(port, state, now)) {
        if (!control) mark(port, packet);
        return depart(port, state, packet, now);
    }
    if (!control && settings_.lossless == Lossless::pfc) {
        auto const in = static_cast<std::uint32_t>(packet.in);
        occupy(ingress_[in], fabric_.port(in).to, static_cast<std::int64_t>(packet.bytes));
    }
    wait(state, packet, control);
}

// A port that will have something to send by itself is run in the next window whether anything arrives or not.
template <class T>
inline void NodeEngine<T>::carry(std::uint32_t port, Port& state) {
    if (state.control.head != none || (state.data.head != none && !state.paused)) carried_.push_back(port);
}

template <class T>
inline void NodeEngine<T>::count_queue(std::uint32_t port, Port const& state) {
    ++queues_[class_of_[fabric_.port(port).bundle]][queue_bucket(state.data_bytes, fabric_.mtu())];
}

template <class T>
inline void NodeEngine<T>::wait(Port& state, Packet const& packet, bool control) {
    pool_.push(control ? state.control : state.data, packet);
    if (control) return;
    state.data_bytes += static_cast<std::int64_t>(packet.bytes);
    state.max_queue = std::max(state.max_queue, state.data_bytes);
}

// Only the header goes on, ahead of the data.
template <class T>
void NodeEngine<T>::trim(Port& state, Packet& packet) {
    packet.trimmed = 1;
    packet.bytes = std::min<std::uint32_t>(settings_.ack_bytes, static_cast<std::uint32_t>(packet.bytes)) & 0x7fff;
    ++state.drops;
}

// Is this packet the next of the port's data, and may it be sent?
template <class T>
inline bool NodeEngine<T>::may_leave(Port const& state, Packet const& packet) const {
    return state.data.head == none && !state.paused &&
           (settings_.lossless != Lossless::credit || static_cast<std::int64_t>(packet.bytes) <= state.credit);
}

// Its room in the switch is free from its first bit on: memory is handed back in cells, not in packets.
template <class T>
void NodeEngine<T>::leave(std::uint32_t port, Packet& packet, std::int64_t now) {
    mark(port, packet);
    release(static_cast<std::uint32_t>(packet.in), static_cast<std::uint32_t>(packet.bytes), now);
}

template <class T>
void NodeEngine<T>::wake_port(std::uint32_t port) {
    auto& state = ports_[port];
    if (state.woken) return;
    state.woken = true;
    wake(fabric_.from(port), state.busy_until, WakeKind::port, port, port);
}

template <class T>
void NodeEngine<T>::try_start(std::uint32_t port, std::int64_t now) {
    auto& state = ports_[port];
    if (state.control.head == none && fabric_.is_endpoint(fabric_.from(port)))
        return feed(fabric_.from(port), list_of(port), now);
    if (depart_next(port, state, now)) return wake_for_more(port, state);
    if (state.waits() && state.busy_until > now) wake_port(port);  // its link is down until then
}

// Sends the next packet of a port that is free, or says that there is none that may leave.
template <class T>
inline bool NodeEngine<T>::depart_next(std::uint32_t port, Port& state, std::int64_t now) {
    if (!up(port, state, now)) [[unlikely]]
        return false;
    if (state.control.head != none) {
        depart(port, state, pool_.pop(state.control), now);
        return true;
    }
    if (state.data.head == none || state.paused) return false;
    if (settings_.lossless == Lossless::credit &&
        static_cast<std::int64_t>(pool_.front(state.data).bytes) > state.credit) {
        stall(port, state, now);
        return false;
    }
    meter_.touch(state.bin, port, now);
    auto packet = pool_.pop(state.data);
    state.data_bytes -= static_cast<std::int64_t>(packet.bytes);
    leave(port, packet, now);
    depart(port, state, packet, now);
    return true;
}

template <class T>
void NodeEngine<T>::transmit(std::uint32_t port, Packet& packet, std::int64_t now) {
    auto& state = ports_[port];
    depart(port, state, packet, now);
    wake_for_more(port, state);
}

template <class T>
inline void NodeEngine<T>::wake_for_more(std::uint32_t port, Port const& state) {
    if (state.control.head != none || (state.data.head != none && !state.paused) || ready_[list_of(port)].head != none)
        wake_port(port);
}

// One departure. Where a packet is made, `next` is the bundle to go over behind the link: of four hops it is not
// carried.
template <class T>
inline void NodeEngine<T>::depart(std::uint32_t port, Port& state, Packet& packet, std::int64_t now) {
    auto const& spec = fabric_.port(port);
    auto const bytes = static_cast<std::uint32_t>(packet.bytes);
    auto const time = time_of(port, bytes, now);
    meter_.add(state.bin, port, now, bytes);
    if constexpr (T::telemetry)
        if (state.crossed > 0 && packet.kind() == PacketKind::data) {
            auto const queued = state.data_bytes * spec.mtu_time / fabric_.mtu();
            auto const level = loads_[port].sent(now, time, queued, round_trip_);
            if (level > packet.seq_high) packet.seq_high = level;
        }
    state.busy_until = now + time;
    state.bytes += bytes;
    ++state.packets;
    ++counters_.hops;
    state.chain =
        (state.chain + static_cast<std::uint64_t>(now) + (std::uint64_t{packet.origin} << 40) + packet.count) *
        0x9e3779b97f4a7c15U;
    // The buffer of an endpoint is its memory: only switches give credit.
    if (settings_.lossless == Lossless::credit && packet.kind() == PacketKind::data && !packet.trimmed &&
        !fabric_.is_endpoint(spec.to))
        state.credit -= bytes;
    bool const lost = state.lossy && lose(port, state, packet);
    if (trace_.active()) [[unlikely]]
        trace_.note(port, packet, sequence_of(packet), now, state.data_bytes,
                    lost ? PacketTrace::Fate::dropped : PacketTrace::Fate::sent);
    if (lost) [[unlikely]]
        return;
    PacketLeg leg = packet;
    auto left = static_cast<std::uint32_t>(packet.left) - state.crossed;
    leg.left = left & 3;
    leg.in = port & id_mask;
    auto arrival = now + spec.latency;
    if (left == 0) {
        arrival += time;
        leg.next = spec.to & id_mask;
        if (foresees_ && packet.kind() == PacketKind::data && !packet.trimmed && mine(spec.to))
            foresee(packet, arrival);
    } else {
        arrival += time & fabric_.hold_mask(port);
        auto next = left == 1   ? static_cast<std::uint32_t>(packet.last)
                    : left == 2 ? static_cast<std::uint32_t>(packet.hop2)
                                : static_cast<std::uint32_t>(packet.next);
        if (packet.hop2 >= fabric_.long_from()) [[unlikely]] {
            auto const step = fabric_.long_step(static_cast<std::uint32_t>(packet.origin), packet.last,
                                                static_cast<std::uint32_t>(packet.hop2));
            next = step.bundle;
            left = step.left;
            leg.left = 3;
            leg.hop2 = step.hop2 & id_mask;
        }
        if (!late_) {
            next = chooser_.choose(packet.heading(), fabric_.group(next, spec.to), spec.to, left - 1, false, arrival);
            if (next == LinkChooser::no_port) [[unlikely]] {
                ++counters_.blocked;
                return drop(packet, port, now);
            }
        }
        leg.next = next & id_mask;
    }
    push(arrival, packet, leg, spec.to);
}

template <class T>
inline std::int64_t NodeEngine<T>::time_of(std::uint32_t port, std::uint32_t bytes, std::int64_t now) const {
    if (fabric_.changes()) [[unlikely]]
        return PacketFabric::ceil_time(bytes, fabric_.rate_at(port, now));
    return fabric_.serialisation(port, bytes);
}

// A port whose link is down is as good as busy until the link is up again. What waits when a link goes for good is
// lost.
template <class T>
inline bool NodeEngine<T>::up(std::uint32_t port, Port& state, std::int64_t now) {
    if (!fabric_.changes()) [[likely]]
        return true;
    auto const from = fabric_.up_from(port, now);
    if (from == PacketFabric::never)
        give_up(port, state, now);
    else
        state.busy_until = std::max(state.busy_until, from);
    return from == now;
}

template <class T>
void NodeEngine<T>::give_up(std::uint32_t port, Port& state, std::int64_t now) {
    meter_.touch(state.bin, port, now);
    for (auto* queue : {&state.data, &state.control})
        while (queue->head != none) {
            auto const packet = pool_.pop(*queue);
            ++counters_.blocked;
            drop(packet, port, now);
            if (queue != &state.data) continue;
            state.data_bytes -= static_cast<std::int64_t>(packet.bytes);
            release(static_cast<std::uint32_t>(packet.in), static_cast<std::uint32_t>(packet.bytes), now);
        }
}

// Has it come to a port whose link is down for good?
template <class T>
inline bool NodeEngine<T>::lost_for_good(std::uint32_t port, Packet const& packet, std::int64_t now) {
    if (!fabric_.changes() || fabric_.up_from(port, now) != PacketFabric::never) [[likely]]
        return false;
    ++counters_.blocked;
    drop(packet, port, now);
    return true;
}

// Does a lossy link lose this packet?
template <class T>
bool NodeEngine<T>::lose(std::uint32_t port, Port& state, Packet const& packet) {
    auto const draw = DigestChain::mix((std::uint64_t{fabric_.link(port).value()} << 32 | state.packets) ^ tie_.salt);
    if (static_cast<std::uint32_t>(draw >> 32) >= state.loss_below) return false;
    ++counters_.lost;
    ++state.losses;
    if (packet.kind() != PacketKind::data) return true;
    ++counters_.dropped;
    // What a lost packet held behind the link is given back at once: the receiver counts what it is sent.
    if (settings_.lossless == Lossless::credit && !packet.trimmed && !fabric_.is_endpoint(fabric_.port(port).to))
        state.credit += static_cast<std::int64_t>(packet.bytes);
    return true;
}

// The last bit has left while something waited.
template <class T>
void NodeEngine<T>::sent(std::uint32_t port, std::int64_t now) {
    auto& state = ports_[port];
    state.woken = false;
    if (state.busy_until <= now) return try_start(port, now);
    wake_port(port);
}

template <class T>
void NodeEngine<T>::drop(Packet const& packet, std::uint32_t port, std::int64_t now) {
    if (trace_.active()) [[unlikely]]
        trace_.note(port, packet, sequence_of(packet), now, ports_[port].data_bytes, PacketTrace::Fate::dropped);
    if (packet.kind() == PacketKind::data) ++counters_.dropped;
    ++ports_[port].drops;
}

}  // namespace orrery
