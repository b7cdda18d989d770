// SPDX-License-Identifier: Apache-2.0
#include "apps/run/packet_settings.hpp"

#include "proto/scenario.pb.h"

#include <fmt/format.h>

namespace orrery {
namespace {

Switching switching_of(std::string const& name) {
    return name == "store_and_forward" ? Switching::store_and_forward : Switching::cut_through;
}

LoadBalancing balancing_of(std::string const& name) {
    return name == "ecmp" ? LoadBalancing::ecmp : name == "adaptive" ? LoadBalancing::adaptive : LoadBalancing::spray;
}

}  // namespace

PacketSettings make_packet_settings(scenario::Scenario const& scenario) {
    auto const& spec = scenario.network().packet();
    PacketSettings settings;
    settings.mtu = static_cast<std::uint32_t>(spec.mtu());
    settings.leaf_switching = switching_of(spec.switching());
    settings.spine_switching =
        spec.spine_switching() == "same" ? settings.leaf_switching : switching_of(spec.spine_switching());
    settings.load_balancing = balancing_of(spec.load_balancing());
    settings.seed_per_switch = spec.seed_per_switch();
    settings.seed = scenario.seed();
    settings.transport = spec.transport();
    settings.bin_width = Time::from_ps(scenario.output().link_bin());
    return settings;
}

std::string describe(PacketSettings const& settings) {
    auto const name = [](Switching s) { return s == Switching::cut_through ? "cut-through" : "store-and-forward"; };
    auto text = fmt::format("MTU {} B, {}", settings.mtu, name(settings.leaf_switching));
    if (settings.spine_switching != settings.leaf_switching)
        text += fmt::format(" (spines {})", name(settings.spine_switching));
    text += settings.load_balancing == LoadBalancing::ecmp       ? ", hashed"
            : settings.load_balancing == LoadBalancing::adaptive ? ", adaptive"
                                                                 : ", sprayed";
    return text + (settings.transport == "none" ? ", no transport" : ", " + settings.transport);
}

}  // namespace orrery
