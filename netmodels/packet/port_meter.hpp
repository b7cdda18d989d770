// SPDX-License-Identifier: Apache-2.0
// What each port does per time bin: bytes as rows of its bundle, and all that packets met as rows of its link.
#pragma once

#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/packet_fabric.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace orrery {

// The open bin of one port, kept beside what the port needs for every packet.
struct OpenBin {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = none;  // ps
    std::int64_t bytes = 0;
};

// What a port has counted since the start of the run; the longest queue is that since the bin began.
struct PortSoFar {
    std::int64_t busy_until = 0, paused_ps = 0, max_queue = 0;
    std::uint32_t marks = 0, drops = 0;
    bool waits = false;  // for something that no bin without it may hide: it is paused, or has packets queued
};

// The ports of an engine as the meter sees them, once per port and bin.
class MeteredPorts {
  public:
    virtual OpenBin& open_bin(std::uint32_t port) = 0;
    // Up to `at`, behind which nothing has happened to the port yet.
    virtual PortSoFar so_far(std::uint32_t port, std::int64_t at) const = 0;
    // The longest queue is counted anew from here on.
    virtual void begin_bin(std::uint32_t port) = 0;

  protected:
    ~MeteredPorts() = default;
};

// Nothing is looked at more often than once per port and bin, when the port next does something or a flush comes; so
// whoever changes what a port has counted at a later time first calls touch().
class PortMeter final : public LinkTraffic {
  public:
    PortMeter(PacketFabric const& fabric, DomainMap const& map, Time width, MeteredPorts& ports);

    // The first bit of `bytes` leaves at `start`: they count in its bin.
    void add(OpenBin& bin, std::uint32_t port, std::int64_t start, std::int64_t bytes) {
        touch(bin, port, start);
        bin.bytes += bytes;
    }
    // Something happens to the port; times of one port ascend.
    void touch(OpenBin const& bin, std::uint32_t port, std::int64_t now) {
        if (now >= bin.end) [[unlikely]]
            turn(port, now);
    }
    // Of the bins that are closed.
    std::int64_t max_queue(std::uint32_t port) const { return before_[port].max_queue; }
    void emit_until(Time now, TimelineSink& sink) override;
    // The open bins are kept with their ports.
    void state(StateStream& stream) { stream(rows_, packet_rows_, before_); }
    std::int64_t memory_bytes() const { return static_cast<std::int64_t>(before_.size() * sizeof(Before)); }

  private:
    struct Before {
        std::int64_t sent_into_next = 0;  // ps of the last packet that lie in the open bin
        std::int64_t paused_ps = 0, max_queue = 0;
        std::uint32_t marks = 0, drops = 0;
    };

    void turn(std::uint32_t port, std::int64_t now);
    bool close(std::uint32_t port, OpenBin& bin);

    PacketFabric const& fabric_;
    std::span<BundleId const> bundles_;
    std::int64_t width_;
    MeteredPorts& ports_;
    std::vector<LinkBinRow> rows_;
    std::vector<PacketBinRow> packet_rows_;
    std::vector<Before> before_;  // by port
};

}  // namespace orrery
