// SPDX-License-Identifier: Apache-2.0
// Packet engines by the name of their transport: each transport's one file registers the engine it is compiled into.
#pragma once

#include "netmodels/packet/network.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Owner of every local node, and which of `processes` this is.
struct PacketShare {
    std::vector<std::uint32_t> owner;  // empty: all nodes are here
    std::uint32_t me = 0, processes = 1;

    bool holds(std::uint32_t node) const { return processes == 1 || owner[node] == me; }
};

using PacketNetworkFactory = std::unique_ptr<PacketNetwork> (*)(PacketFabric const&, DomainMap const&,
                                                                PacketSettings const&, PacketShare);

// A namespace-scope object of this type, one per transport file, is all that adding a transport takes.
class TransportRegistration {
  public:
    TransportRegistration(std::string_view name, PacketNetworkFactory factory);
};

std::vector<std::string> transport_names();

// An unknown transport is an InputError with the nearest names.
std::unique_ptr<PacketNetwork> make_packet_network(PacketFabric const&, DomainMap const&, PacketSettings const&,
                                                   PacketShare share = {});

}  // namespace orrery
