// SPDX-License-Identifier: Apache-2.0
// What a transport decides: a type compiled into the engine, so that no packet pays for a call through a table.
#pragma once

#include "netmodels/packet/packet_settings.hpp"

#include <cstdint>

namespace orrery {

// Facts of a flow's path that transports start from.
struct PathFacts {
    std::int64_t line_rate = 0;   // b/s of the first link
    std::int64_t round_trip = 0;  // ps: a full packet there and an acknowledgement back, zero load
    std::uint32_t mtu = 0;
};

// A transport T has
//   struct Sender                      plain data, at most 32 bytes
//   static constexpr bool acks         does the receiver acknowledge packets?
//   static constexpr bool pulls        does the receiver ask for packets?
//   static constexpr bool telemetry    do packets carry how busy the busiest link of their way is? (link_load.hpp)
//   explicit T(PacketSettings const&)
//   void start(Sender&, PathFacts const&, std::int64_t now) const
//   bool may_send(Sender const&, std::uint32_t in_flight) const
//   void sent(Sender&, std::uint32_t sequence, std::int64_t now) const
//   std::int64_t gap(Sender&, std::uint32_t bytes, std::int64_t now) const   ps to the next packet; 0: no pacing
//   void acked(Sender&, std::uint32_t sequence, std::int64_t now) const
//   void measured(Sender&, std::uint8_t level, std::uint32_t sequence, std::uint32_t next) const
//       before acked(), with telemetry: what that packet met; `next` is the first one that has not been sent
//   void congested(Sender&, std::int64_t now) const    a CNP has come
//   void credited(Sender&) const                       a credit has come
//   void timed_out(Sender&) const
// Nothing else: loss recovery, pauses and order are the engine's. Times in ps.
template <class Sender>
struct TransportBase {
    static constexpr bool telemetry = false;
    void sent(Sender&, std::uint32_t, std::int64_t) const {}
    std::int64_t gap(Sender&, std::uint32_t, std::int64_t) const { return 0; }
    void measured(Sender&, std::uint8_t, std::uint32_t, std::uint32_t) const {}
    void acked(Sender&, std::uint32_t, std::int64_t) const {}
    void congested(Sender&, std::int64_t) const {}
    void credited(Sender&) const {}
    void timed_out(Sender&) const {}
};

}  // namespace orrery
