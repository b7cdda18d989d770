// SPDX-License-Identifier: Apache-2.0
// A bounded record of packets at links or of flows that the user names: the first ones, by time.
#pragma once

#include "core/records.hpp"
#include "core/state.hpp"
#include "netmodels/packet/packet_fabric.hpp"
#include "netmodels/packet/packet_settings.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// The order of rows, and of the bound.
bool earlier(PacketTraceRow const& a, PacketTraceRow const& b);

class PacketTrace {
  public:
    // Throws InputError when a pattern matches no link of the fabric. The flow is known by its ends.
    PacketTrace(PacketFabric const& fabric, TraceSettings const& settings);

    bool active() const { return active_; }
    enum class Fate : std::uint8_t { sent, dropped };
    // `number`: of the packet in its message; `queue`: bytes behind it.
    void note(std::uint32_t port, Packet const& packet, std::uint32_t number, std::int64_t now, std::int64_t queue,
              Fate fate);
    // Keeps the first rows; of a later window none can be earlier.
    void end_of_window();
    std::vector<PacketTraceRow> const& rows() const { return rows_; }
    void state(StateStream& stream) { stream(rows_, active_); }

  private:
    PacketFabric const& fabric_;
    TraceSettings settings_;
    std::vector<std::uint8_t> traced_;  // by port
    std::vector<PacketTraceRow> rows_;
    bool active_ = false;
};

}  // namespace orrery
