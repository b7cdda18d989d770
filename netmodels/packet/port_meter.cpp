// SPDX-License-Identifier: Apache-2.0
// Closing a port's bin and emitting what is complete.
#include "netmodels/packet/port_meter.hpp"

#include "netmodels/exchange/bin_rows.hpp"

#include <algorithm>

namespace orrery {

PortMeter::PortMeter(PacketFabric const& fabric, DomainMap const& map, Time width, MeteredPorts& ports)
    : fabric_(fabric),
      bundles_(map.bundles(fabric.domain())),
      width_(width.ps()),
      ports_(ports),
      before_(fabric.port_count()) {}

// The port's open bin is over: what happened in it becomes rows. True: the port waits, so the next bin has a row too.
bool PortMeter::close(std::uint32_t port, OpenBin& bin) {
    auto const& spec = fabric_.port(port);
    auto const number = static_cast<std::uint32_t>(bin.end / width_ - 1);
    auto const now = ports_.so_far(port, bin.end);
    auto& before = before_[port];
    if (bin.bytes > 0) rows_.push_back({bundles_[spec.bundle].value(), number, bin.bytes});
    // What is sent when a bin ends belongs to two. (A port whose link is down counts as busy longer than one packet.)
    auto const longest = static_cast<std::int64_t>(std::max(spec.mtu_time, spec.note_time));
    auto const into_next = std::clamp<std::int64_t>(now.busy_until - bin.end, 0, longest);
    auto const sent = spec.rate > 0 ? transfer_time(bin.bytes, Rate::from_bits_per_s(spec.rate)).ps() : 0;
    PacketBinRow const row{.link = fabric_.link(port).value(),
                           .bin = number,
                           .wire_bytes = bin.bytes,
                           .busy = Time::from_ps(std::max<std::int64_t>(0, before.sent_into_next + sent - into_next)),
                           .paused = Time::from_ps(now.paused_ps - before.paused_ps),
                           .max_queue_bytes = now.max_queue,
                           .marks = now.marks - before.marks,
                           .drops = now.drops - before.drops};
    if (row.wire_bytes > 0 || row.busy > Time{} || row.paused > Time{} || row.max_queue_bytes > 0 || row.marks > 0 ||
        row.drops > 0)
        packet_rows_.push_back(row);
    before = {.sent_into_next = into_next,
              .paused_ps = now.paused_ps,
              .max_queue = std::max(before.max_queue, now.max_queue),
              .marks = now.marks,
              .drops = now.drops};
    ports_.begin_bin(port);
    bin.bytes = 0;
    bin.end += width_;
    return now.waits || into_next > 0;
}

void PortMeter::turn(std::uint32_t port, std::int64_t now) {
    auto& bin = ports_.open_bin(port);
    while (bin.end != OpenBin::none && bin.end <= now && close(port, bin)) {
    }
    if (bin.end <= now) bin.end = (now / width_ + 1) * width_;
}

void PortMeter::emit_until(Time now, TimelineSink& sink) {
    for (std::uint32_t port = 0; port < fabric_.port_count(); ++port) {
        auto& bin = ports_.open_bin(port);
        while (bin.end != OpenBin::none && bin.end <= now.ps())
            if (!close(port, bin)) bin.end = OpenBin::none;
    }
    auto const open = static_cast<std::uint32_t>(now.ps() / width_);
    emit_closed(rows_, open, sink);
    auto const kept = std::partition(packet_rows_.begin(), packet_rows_.end(),
                                     [open](PacketBinRow const& r) { return r.bin < open; });
    std::sort(packet_rows_.begin(), kept, [](PacketBinRow const& a, PacketBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.link < b.link;
    });
    for (auto row = packet_rows_.begin(); row != kept; ++row) sink.add(*row);
    packet_rows_.erase(packet_rows_.begin(), kept);
}

}  // namespace orrery
