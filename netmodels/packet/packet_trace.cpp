// SPDX-License-Identifier: Apache-2.0
// What is traced, and what is kept of it.
#include "netmodels/packet/packet_trace.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <tuple>

namespace orrery {

bool earlier(PacketTraceRow const& a, PacketTraceRow const& b) {
    auto const key = [](PacketTraceRow const& r) {
        return std::tie(r.time, r.link, r.source, r.count, r.kind, r.target, r.number, r.dropped);
    };
    return key(a) < key(b);
}

PacketTrace::PacketTrace(PacketFabric const& fabric, TraceSettings const& settings)
    : fabric_(fabric), settings_(settings), active_(settings.on()) {
    if (!active_) return;
    traced_.assign(fabric.port_count(), settings.links.empty() ? 1 : 0);
    for (std::uint32_t p = 0; p < fabric.port_count(); ++p)
        if (fnmatch(settings.links.c_str(), fabric.fabric().link_name(fabric.link(p)).c_str(), 0) == 0) traced_[p] = 1;
}

void PacketTrace::note(std::uint32_t port, Packet const& packet, std::uint32_t number, std::int64_t now,
                       std::int64_t queue, Fate fate) {
    if (traced_[port] == 0) return;
    auto const target = fabric_.fabric().nodes()[fabric_.node(fabric_.end_of(packet.last)).index()].rank.value();
    auto const source = static_cast<std::uint32_t>(packet.origin);
    if (settings_.one_flow && (source != settings_.source || target != settings_.target)) return;
    rows_.push_back({.time = Time::from_ps(now),
                     .link = fabric_.link(port).value(),
                     .source = source,
                     .target = target,
                     .number = number,
                     .bytes = static_cast<std::int64_t>(packet.bytes),
                     .queue_bytes = queue,
                     .count = static_cast<std::uint32_t>(packet.count),
                     .kind = static_cast<std::uint8_t>(packet.kind_bits),
                     .marked = static_cast<std::uint8_t>(packet.marked),
                     .dropped = fate == Fate::dropped ? std::uint8_t{1} : std::uint8_t{0}});
}

void PacketTrace::end_of_window() {
    if (rows_.size() < settings_.limit) return;
    std::sort(rows_.begin(), rows_.end(), earlier);
    rows_.resize(settings_.limit);
    active_ = false;
}

}  // namespace orrery
