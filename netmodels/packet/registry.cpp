// SPDX-License-Identifier: Apache-2.0
// The table of transports.
#include "netmodels/packet/registry.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"

#include <map>

namespace orrery {
namespace {

// A function-local table: it exists before the first registration, whatever the order of static initialisation.
std::map<std::string, PacketNetworkFactory, std::less<>>& factories() {
    static std::map<std::string, PacketNetworkFactory, std::less<>> table;
    return table;
}

}  // namespace

TransportRegistration::TransportRegistration(std::string_view name, PacketNetworkFactory factory) {
    bool const added = factories().emplace(name, factory).second;
    ORRERY_ENSURE(added, "two transports register as '{}'", name);
}

std::vector<std::string> transport_names() {
    std::vector<std::string> names;
    for (auto const& entry : factories()) names.push_back(entry.first);
    return names;
}

std::unique_ptr<PacketNetwork> make_packet_network(PacketFabric const& fabric, DomainMap const& map,
                                                   PacketSettings const& settings, PacketShare share) {
    auto const found = factories().find(settings.transport);
    if (found == factories().end()) {
        NearestNames nearest(settings.transport);
        for (auto const& name : transport_names()) nearest.offer(name);
        throw InputError(fmt::format("network.packet.transport is '{}' (no such transport); did you mean {}?",
                                     settings.transport, nearest.text()));
    }
    return found->second(fabric, map, settings, std::move(share));
}

}  // namespace orrery
