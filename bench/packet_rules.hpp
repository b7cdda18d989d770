// SPDX-License-Identifier: Apache-2.0
// The fabric and the traffic of the packet benchmarks.
#pragma once

#include "netmodels/packet/network.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <memory>

namespace orrery::bench {

// Two tiers, non-blocking: leaves of sqrt(N)-ish hosts, as many spines as hosts under a leaf.
inline std::uint32_t hosts_per_leaf(std::uint32_t hosts) {
    std::uint32_t leaf = 1;
    while (leaf * leaf < hosts) leaf *= 2;
    return leaf;
}

inline std::unique_ptr<Fabric> make_leaf_spine(std::uint32_t hosts) {
    scenario::FabricSpec spec;
    spec.set_kind("leaf_spine");
    auto& d = *spec.mutable_leaf_spine();
    d.set_hosts(hosts);
    d.set_hosts_per_leaf(hosts_per_leaf(hosts));
    d.set_spines(hosts_per_leaf(hosts));
    d.set_host_rate(400'000'000'000);
    d.set_oversubscription(1);
    d.set_link_latency(500'000);
    d.set_switch_latency(0);
    d.set_load_balancing("spray");
    return make_fabric(spec, 1);
}

// RoCE as it is commonly set up: PFC with 1 MiB per input, marks from 100 to 400 kB, no window.
inline PacketSettings roce_settings() {
    PacketSettings settings;
    settings.transport = "dcqcn";
    settings.lossless = Lossless::pfc;
    settings.port_buffer = 1 << 20;
    settings.ecn_kmin = 100'000;
    settings.ecn_kmax = 400'000;
    settings.ecn_pmax = 0.2;
    settings.window = 0;
    settings.cnp_interval = Time::from_ps(50'000'000);
    return settings;
}

// Source r sends `messages` messages to r + 1, r + 2, ... in turn.
class Rotation final : public MessageRule {
  public:
    Rotation(std::uint32_t hosts, std::uint32_t messages, std::int64_t bytes)
        : hosts_(hosts), messages_(messages), bytes_(bytes) {}
    bool message(RankId source, std::uint32_t number, Message& out) const override {
        if (number == messages_) return false;
        out = {.source = source,
               .target = RankId{(source.value() + 1 + number) % hosts_},
               .offered = {},
               .bytes = bytes_,
               .cookie = static_cast<std::uint64_t>(source.value()) << 32 | number,
               .pace = {}};
        return true;
    }

  private:
    std::uint32_t hosts_, messages_;
    std::int64_t bytes_;
};

}  // namespace orrery::bench
