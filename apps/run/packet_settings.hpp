// SPDX-License-Identifier: Apache-2.0
// From the scenario's network.packet to the settings of the packet engines.
#pragma once

#include "netmodels/packet/packet_settings.hpp"

#include <string>

namespace orrery {

namespace scenario {
class Scenario;
}  // namespace scenario

PacketSettings make_packet_settings(scenario::Scenario const& scenario);

// Throws InputError when it names no rank or link of the fabric.
void check_trace(TraceSettings const& trace, Fabric const& fabric);

// One line for people: "MTU 4096 B, cut-through, sprayed, no transport".
std::string describe(PacketSettings const& settings);

}  // namespace orrery
