// SPDX-License-Identifier: Apache-2.0
// What a sweep engine tells about itself: figures of ports, digest, memory, bins.
#include "netmodels/packet/sweep_engine.hpp"

namespace orrery {

void PacketCounters::add(PacketCounters const& other) {
    injected += other.injected, delivered += other.delivered, dropped += other.dropped;
    hops += other.hops;
    messages += other.messages, messages_done += other.messages_done;
    bytes_offered += other.bytes_offered, bytes_delivered += other.bytes_delivered;
    marks += other.marks, pauses += other.pauses, retransmitted += other.retransmitted, control += other.control;
    lost += other.lost, blocked += other.blocked, stalls += other.stalls;
}

PortFigures SweepEngine::figures(std::uint32_t port) const {
    auto const& state = ports_[port];
    auto const& spec = fabric_.port(port);
    PortFigures figures{.bytes = state.bytes, .packets = state.packets, .drops = state.drops};
    if (spec.rate == 0) return figures;
    figures.busy_ps = transfer_time(state.bytes, Rate::from_bits_per_s(spec.rate)).ps();
    figures.max_queue = max_queue(port);
    return figures;
}

// What came to a queue found there what the link sends in the time that it had to wait.
PortSoFar SweepEngine::so_far(std::uint32_t port, std::int64_t) const {
    auto const& state = ports_[port];
    auto const queue = static_cast<Int128>(state.max_wait) * fabric_.port(port).rate / 8'000'000'000'000;
    return {.busy_until = state.free, .max_queue = static_cast<std::int64_t>(queue), .drops = state.drops};
}

std::int64_t SweepEngine::max_queue(std::uint32_t port) const {
    return std::max(meter_.max_queue(port), so_far(port, 0).max_queue);
}

std::int64_t SweepEngine::in_flight() const {
    std::int64_t held = 0;
    calendar_.for_each([&](Packet const&) { ++held; });
    return held;
}

Digest SweepEngine::digest() const {
    Digest digest;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        if (!mine(fabric_.from(p))) continue;
        DigestChain chain;
        chain.add(ports_[p].chain);
        chain.add(static_cast<std::uint64_t>(max_queue(p)));
        chain.add(ports_[p].drops);
        digest.add(fabric_.link(p).value(), chain);
    }
    add_delivered(digest, fabric_, done_digest_, [this](std::uint32_t node) { return mine(node); });
    return digest;
}

std::int64_t SweepEngine::memory_bytes() const {
    std::size_t bytes =
        ports_.size() * sizeof(Port) + flows_.capacity() * sizeof(Flow) + injectors_.size() * sizeof(Injector);
    for (auto const& table : received_) bytes += table.capacity() * sizeof(Received);
    return static_cast<std::int64_t>(bytes) + calendar_.memory_bytes() + order_.memory_bytes() + meter_.memory_bytes();
}

void SweepEngine::state(StateStream& stream) {
    stream(ports_, flows_, free_flow_, received_, injectors_, active_, numbers_, calendar_, width_, begin_, window_,
           ran_until_, deliveries_, counters_, queues_, done_digest_, meter_);
}

std::vector<std::uint64_t> SweepEngine::starved() const {
    std::vector<std::uint64_t> cookies;
    if (next() < Time::infinity()) return cookies;
    for (auto const& flow : flows_)
        if (flow.packets > 0) cookies.push_back(flow.cookie);
    return cookies;
}

}  // namespace orrery
