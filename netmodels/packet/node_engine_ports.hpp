// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, second part: output ports, buffers, marking, pauses and credits.
#pragma once

#include "netmodels/packet/node_engine.hpp"

#include <bit>

namespace orrery {

template <class T>
void NodeEngine<T>::forward(std::uint32_t node, Packet& packet, std::int64_t now) {
    auto const left = static_cast<std::uint32_t>(packet.left) - 1;
    auto const group = fabric_.group(packet.next, node);
    auto const port = settings_.load_balancing != LoadBalancing::adaptive
                          ? chooser_.choose(packet.heading(), group, node, left, false)
                          : chooser_.least(packet.heading(), group, node, left, false, [&](std::uint32_t p) {
                                // What is ahead of it, in time at the speed of the link.
                                return std::max<std::int64_t>(0, ports_[p].busy_until - now) +
                                       ports_[p].data.bytes * fabric_.port(p).mtu_time / fabric_.mtu();
                            });
    if (port == LinkChooser::no_port) {
        ++counters_.blocked;
        return drop(packet, static_cast<std::uint32_t>(packet.in));
    }
    packet.left = left & 3;
    if (fabric_.mixed_rates() && !fabric_.holds(node)) {
        // A cut-through switch may not run dry: a faster output ends no earlier than the input.
        auto const bytes = static_cast<std::uint32_t>(packet.bytes);
        auto const wait =
            fabric_.serialisation(static_cast<std::uint32_t>(packet.in), bytes) - fabric_.serialisation(port, bytes);
        if (wait > 0) {
            packet_detail::Fifo one;
            pool_.push(one, packet);
            if (packet.kind() == PacketKind::data) ++data_here_;
            return wake(node, now + wait, WakeKind::enqueue, tie_.draw(packet), one.head, port);
        }
    }
    enqueue(node, port, packet, now);
}

template <class T>
void NodeEngine<T>::enqueue(std::uint32_t node, std::uint32_t port, Packet& packet, std::int64_t now) {
    auto& state = ports_[port];
    bool control = packet.kind() != PacketKind::data || packet.trimmed;
    if (!control) {
        auto& histogram = queues_[class_of_[fabric_.port(port).bundle]];
        auto const queued = static_cast<std::uint64_t>(state.data.bytes) / fabric_.mtu();
        ++histogram[state.data.bytes == 0 ? 0
                                          : std::min<std::size_t>(queue_buckets - 1, 1 + static_cast<std::size_t>(
                                                                                             std::bit_width(queued)))];
        if (!admit(node, port, packet, now)) {
            if (!settings_.trimming) return drop(packet, port);
            // Only the header goes on, ahead of the data.
            packet.trimmed = 1;
            packet.bytes =
                std::min<std::uint32_t>(settings_.ack_bytes, static_cast<std::uint32_t>(packet.bytes)) & 0x7fff;
            ++state.drops;
        }
    }
    control = control || packet.trimmed;
    if (state.busy_until <= now && state.control.head == none && (control || may_leave(state, packet))) {
        if (!control) leave(port, packet, now);
        return transmit(port, packet, now);
    }
    if (packet.kind() == PacketKind::data) ++data_here_;
    pool_.push(control ? state.control : state.data, packet);
    state.max_queue = std::max(state.max_queue, state.data.bytes);
    if (state.busy_until > now) wake_port(port);
}

// Is this packet the next of the port's data, and may it be sent?
template <class T>
bool NodeEngine<T>::may_leave(Port const& state, Packet const& packet) const {
    return state.data.head == none && !state.paused && static_cast<std::int64_t>(packet.bytes) <= state.credit;
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
std::int64_t NodeEngine<T>::xoff(std::uint32_t node) const {
    if (settings_.pfc_alpha <= 0) return settings_.pfc_xoff;
    // Dynamic threshold (Choudhury and Hahne 1998): a share of what is free of the switch's buffer.
    auto const free = settings_.shared_buffer - nodes_[node].shared;
    auto const parts = static_cast<std::int64_t>(settings_.pfc_alpha * 1024);
    return std::max<std::int64_t>(0, free / 1024 * parts);
}

// Takes room for a packet, or says that there is none.
template <class T>
bool NodeEngine<T>::admit(std::uint32_t node, std::uint32_t port, Packet const& packet, std::int64_t now) {
    auto const bytes = static_cast<std::int64_t>(packet.bytes);
    auto& shared = nodes_[node].shared;
    if (shared > settings_.shared_buffer - bytes) return false;
    if (settings_.lossless == Lossless::off) {
        if (ports_[port].data.bytes > settings_.port_buffer - bytes) return false;
        shared += bytes;
        return true;
    }
    auto const in = static_cast<std::uint32_t>(packet.in);
    auto& input = ingress_[in];
    if (input.bytes > settings_.port_buffer - bytes) {
        ORRERY_ENSURE(settings_.lossless == Lossless::pfc, "link {} was sent to without credit",
                      fabric_.fabric().link_name(fabric_.link(in)));
        ORRERY_VALIDATE(!counts_,
                        "link {} overruns its buffer of {} bytes (pauses come too late: the headroom is too small); "
                        "raise port_buffer, lower pfc_xoff, or set a window",
                        fabric_.fabric().link_name(fabric_.link(in)), settings_.port_buffer);
        return false;  // the headroom is too small
    }
    shared += bytes;
    input.bytes += bytes;
    input.most = std::max(input.most, input.bytes);
    if (settings_.lossless == Lossless::pfc && !input.paused && input.bytes > xoff(node)) {
        input.paused = true;
        ++input.pauses;
        ++counters_.pauses;
        notify(in, PacketKind::pause, 0, now);
    }
    return true;
}

// On leaving, by what is left behind: a mark made on entering would wait through the very queue that it reports.
template <class T>
void NodeEngine<T>::mark(std::uint32_t port, Packet& packet) {
    auto& state = ports_[port];
    auto const queued = state.data.bytes;
    if (queued <= settings_.ecn_kmin) return;
    if (queued < settings_.ecn_kmax) {
        // RED's ramp; the draw depends on the packet and the link alone.
        auto const draw = DigestChain::mix(tie_.draw(packet) + fabric_.link(port).value() + 1) >> 32;
        auto const span = static_cast<double>(settings_.ecn_kmax - settings_.ecn_kmin);
        auto const p = settings_.ecn_pmax * static_cast<double>(queued - settings_.ecn_kmin) / span;
        if (static_cast<double>(draw) >= p * 0x1p32) return;
    }
    packet.marked = 1;
    ++state.marks;
    ++counters_.marks;
}

template <class T>
void NodeEngine<T>::release(std::uint32_t in, std::uint32_t bytes, std::int64_t now) {
    auto const node = fabric_.port(in).to;
    nodes_[node].shared -= bytes;
    if (settings_.lossless == Lossless::off) return;
    auto& input = ingress_[in];
    input.bytes -= bytes;
    if (settings_.lossless == Lossless::credit) {
        // Returned in quarters of the buffer at least a packet big, so that credits are few.
        input.returned += bytes;
        if (input.returned * 4 < settings_.port_buffer && input.returned < 16'384) return;
        notify(in, PacketKind::resume, static_cast<std::uint32_t>(input.returned), now);
        input.returned = 0;
        return;
    }
    auto const xon =
        settings_.pfc_alpha > 0 ? xoff(node) - 2 * static_cast<std::int64_t>(fabric_.mtu()) : settings_.pfc_xon;
    if (!input.paused || (input.bytes > xon && input.bytes > 0)) return;
    input.paused = false;
    notify(in, PacketKind::resume, 0, now);
}

// A frame against the link `in`: it takes that link's latency and waits behind nothing.
template <class T>
void NodeEngine<T>::notify(std::uint32_t in, PacketKind kind, std::uint32_t bytes, std::int64_t now) {
    Packet packet;
    packet.set_kind(kind);
    packet.in = in & id_mask;
    packet.origin = fabric_.port(in).to & id_mask;
    packet.count = ingress_[in].notices++ & id_mask;
    packet.set_sequence(bytes);
    push(now + fabric_.port(in).latency, packet, fabric_.from(in));
}

template <class T>
void NodeEngine<T>::notified(Packet const& packet, std::int64_t now) {
    auto const port = static_cast<std::uint32_t>(packet.in);
    auto& state = ports_[port];
    if (settings_.lossless == Lossless::credit) {
        state.credit += packet.sequence();
    } else if (packet.kind() == PacketKind::pause) {
        if (!state.paused) state.paused_since = now;
        state.paused = true;
        return;
    } else {
        if (state.paused) state.paused_ps += now - state.paused_since;
        state.paused = false;
    }
    if (state.busy_until <= now) return try_start(port, now);
    if (state.data.head != none || fabric_.is_endpoint(fabric_.from(port))) wake_port(port);
}

template <class T>
void NodeEngine<T>::try_start(std::uint32_t port, std::int64_t now) {
    auto& state = ports_[port];
    if (state.control.head != none) {
        auto const packet = pool_.pop(state.control);
        if (packet.kind() == PacketKind::data) --data_here_;
        return transmit(port, packet, now);
    }
    if (fabric_.is_endpoint(fabric_.from(port))) return feed(fabric_.from(port), list_of(port), now);
    if (state.paused) return;
    if (state.data.head == none) return;
    auto const bytes = static_cast<std::int64_t>(pool_.front(state.data).bytes);
    if (bytes > state.credit) return;
    --data_here_;
    auto packet = pool_.pop(state.data);
    leave(port, packet, now);
    transmit(port, packet, now);
}

template <class T>
void NodeEngine<T>::transmit(std::uint32_t port, Packet packet, std::int64_t now) {
    auto& state = ports_[port];
    auto const& spec = fabric_.port(port);
    auto const bytes = static_cast<std::uint32_t>(packet.bytes);
    auto const time = fabric_.serialisation(port, bytes);
    bool const data = packet.kind() == PacketKind::data && !packet.trimmed;
    state.busy_until = now + time;
    state.bytes += bytes;
    ++state.packets;
    ++counters_.hops;
    state.chain =
        (state.chain + static_cast<std::uint64_t>(now) + (std::uint64_t{packet.origin} << 40) + packet.count) *
        0x9e3779b97f4a7c15U;
    meter_.add(state.bin, spec.bundle, now, bytes);
    if (state.control.head != none || (state.data.head != none && !state.paused) || ready_[list_of(port)].head != none)
        wake_port(port);
    // The buffer of an endpoint is its memory: only switches give credit.
    if (data && settings_.lossless == Lossless::credit && !fabric_.is_endpoint(spec.to)) state.credit -= bytes;
    if (state.lossy) [[unlikely]] {
        auto const draw =
            DigestChain::mix((std::uint64_t{fabric_.link(port).value()} << 32 | state.packets) ^ tie_.salt);
        if (static_cast<std::uint32_t>(draw >> 32) < state.loss_below) {
            ++counters_.lost;
            ++state.losses;
            // What a lost packet held behind the link is given back at once: the receiver counts what it is sent.
            if (data && settings_.lossless == Lossless::credit && !fabric_.is_endpoint(spec.to)) state.credit += bytes;
            if (packet.kind() == PacketKind::data) ++counters_.dropped;
            return;
        }
    }
    packet.in = port & id_mask;
    if (packet.left == 2) packet.next = packet.hop2 & id_mask;
    if (packet.left == 1) packet.next = packet.last;
    auto const arrival =
        packet.left == 0 ? now + time + spec.latency : now + spec.latency + (time & fabric_.hold_mask(port));
    push(arrival, packet, spec.to);
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
void NodeEngine<T>::drop(Packet const& packet, std::uint32_t port) {
    if (packet.kind() == PacketKind::data) ++counters_.dropped;
    ++ports_[port].drops;
}

}  // namespace orrery
