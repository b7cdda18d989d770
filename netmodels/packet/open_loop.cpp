// SPDX-License-Identifier: Apache-2.0
// Transport `none`: senders hand packets to their ports as fast as these take them and never look back.
#include "netmodels/packet/registry.hpp"
#include "netmodels/packet/sweep_engine.hpp"

namespace orrery {
namespace {

TransportRegistration const registered{
    "none", [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
               PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<SweepEngine>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery
