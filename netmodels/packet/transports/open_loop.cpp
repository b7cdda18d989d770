// SPDX-License-Identifier: Apache-2.0
// Transport `none`: senders hand packets to their ports as fast as these take them and never look back.
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"
#include "netmodels/packet/sweep_engine.hpp"

namespace orrery {
namespace {

struct OpenLoopSender {};

struct OpenLoop : TransportBase<OpenLoopSender> {
    using Sender = OpenLoopSender;
    static constexpr bool acks = false, pulls = false, notices = false;
    explicit OpenLoop(PacketSettings const&) {}
    void start(Sender&, PathFacts const&, std::int64_t) const {}
    bool may_send(Sender const&, std::uint32_t) const { return true; }
};

// Whether the departure of every packet is known when it arrives.
bool sweeps(PacketSettings const& s) {
    return s.lossless == Lossless::off && !s.trimming && s.losses.empty() &&
           s.shared_buffer == PacketSettings::unbounded && s.ecn_kmin == PacketSettings::unbounded && !s.keep_queues &&
           s.timetable.empty() && !s.trace.on();
}

TransportRegistration const registered{
    "none",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        if (sweeps(settings)) return std::make_unique<SweepEngine>(fabric, map, settings, std::move(share));
        return std::make_unique<NodeEngine<OpenLoop>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery
