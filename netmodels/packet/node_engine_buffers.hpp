// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, third part: room in switches, marking, pauses and credits.
#pragma once

#include "netmodels/packet/node_engine.hpp"

namespace orrery {

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
    if (shares_ && shared > settings_.shared_buffer - bytes) return false;
    if (settings_.lossless == Lossless::off) {
        if (ports_[port].data_bytes > settings_.port_buffer - bytes) return false;
        shared += shares_ ? bytes : 0;
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
    shared += shares_ ? bytes : 0;
    occupy(input, node, bytes);
    if (settings_.lossless == Lossless::pfc && !input.paused && input.bytes > xoff(node)) {
        input.paused = true;
        watch(input, node);
        ++counters_.pauses;
        notify(in, PacketKind::pause, 0, now);
    }
    return true;
}

template <class T>
inline void NodeEngine<T>::occupy(Ingress& input, std::uint32_t node, std::int64_t bytes) {
    input.bytes += bytes;
    watch(input, node);
}

// Keeps count of the inputs of a switch that may have to pause, or to end a pause, before the end of a window.
template <class T>
inline void NodeEngine<T>::watch(Ingress& input, std::uint32_t n) {
    bool const tight = input.paused || input.bytes > input.calm;
    if (tight == input.tight) [[likely]]
        return;
    input.tight = tight;
    if (always_joint_[n]) return;
    auto& node = nodes_[n];
    node.tight += tight ? 1U : ~0U;
    if (!tight || node.listed) return;
    node.listed = true;
    tight_.push_back(n);
}

// On leaving, by what is left behind: a mark made on entering would wait through the very queue that it reports.
template <class T>
inline void NodeEngine<T>::mark(std::uint32_t port, Packet& packet) {
    auto& state = ports_[port];
    auto const queued = state.data_bytes;
    if (queued <= settings_.ecn_kmin) [[likely]]
        return;
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
    if (shares_) nodes_[node].shared -= bytes;
    if (settings_.lossless == Lossless::off) return;
    auto& input = ingress_[in];
    occupy(input, node, -static_cast<std::int64_t>(bytes));
    if (settings_.lossless == Lossless::credit) {
        // Returned in quarters of the buffer at least a packet big, so that credits are few.
        input.returned += bytes;
        if (std::int64_t{input.returned} * 4 < settings_.port_buffer && input.returned < 16'384) return;
        notify(in, PacketKind::resume, input.returned, now);
        input.returned = 0;
        return;
    }
    auto const xon =
        settings_.pfc_alpha > 0 ? xoff(node) - 2 * static_cast<std::int64_t>(fabric_.mtu()) : settings_.pfc_xon;
    if (!input.paused || (input.bytes > xon && input.bytes > 0)) return;
    input.paused = false;
    watch(input, node);
    notify(in, PacketKind::resume, 0, now);
}

// A frame against the link `in`: it takes that link's latency and waits behind nothing.
template <class T>
void NodeEngine<T>::notify(std::uint32_t in, PacketKind kind, std::uint32_t bytes, std::int64_t now) {
    auto const from = fabric_.from(in);
    Packet packet;
    packet.set_kind(kind);
    packet.in = in & id_mask;
    packet.next = (fabric_.is_endpoint(from) ? from : in) & id_mask;
    packet.origin = fabric_.port(in).to & id_mask;
    packet.count = ingress_[in].notices++ & id_mask;
    packet.set_sequence(bytes);
    push(now + fabric_.port(in).latency, packet, packet, from);
}

// The port is free and has packets, but not the credit for the first of them.
template <class T>
void NodeEngine<T>::stall(std::uint32_t port, Port& state, std::int64_t now) {
    if (state.stalled) return;
    meter_.touch(state.bin, port, now);
    state.stalled = true;
    state.paused_since = now;
    ++counters_.stalls;
}

// What a notice says to the port that it is for; false: nothing is to be started.
template <class T>
bool NodeEngine<T>::heed(std::uint32_t port, Port& state, Packet const& notice, std::int64_t now) {
    meter_.touch(state.bin, port, now);
    if (settings_.lossless == Lossless::credit) {
        state.credit += notice.sequence();
        if (state.stalled && static_cast<std::int64_t>(pool_.front(state.data).bytes) <= state.credit) {
            state.stalled = false;
            state.paused_ps += now - state.paused_since;
        }
        return true;
    }
    bool const pause = notice.kind() == PacketKind::pause;
    if (pause && !state.paused) state.paused_since = now;
    if (!pause && state.paused) state.paused_ps += now - state.paused_since;
    state.paused = pause;
    return !pause;
}

template <class T>
void NodeEngine<T>::notified(Packet const& packet, std::int64_t now) {
    auto const port = static_cast<std::uint32_t>(packet.in);
    auto& state = ports_[port];
    if (!heed(port, state, packet, now)) return;
    if (state.busy_until <= now) return try_start(port, now);
    if (state.data.head != none || fabric_.is_endpoint(fabric_.from(port))) wake_port(port);
}

}  // namespace orrery
