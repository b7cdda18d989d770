// SPDX-License-Identifier: Apache-2.0
// Specifications of the families of graphs with the schema's defaults, and what each of them must show.
#pragma once

#include "netmodels/topology/measure.hpp"
#include "tests/netmodels/topology_testing.hpp"

namespace orrery::testing {

inline scenario::FabricSpec fat_tree(scenario::FatTree const& given = {}) {
    scenario::FabricSpec spec;
    spec.set_kind("fat_tree");
    auto& d = *spec.mutable_fat_tree();
    d.set_levels(3);
    d.set_radix(8);
    d.set_pods(0);
    d.set_oversubscription(1);
    d.set_host_rate(400'000'000'000);
    d.set_link_latency((500_ns).ps());
    d.set_switch_latency(0);
    d.set_load_balancing("spray");
    d.MergeFrom(given);
    return spec;
}
inline scenario::FabricSpec fat_tree(std::uint32_t levels, std::uint32_t radix, double oversubscription = 1,
                                     std::string const& balancing = "spray", std::uint32_t pods = 0) {
    scenario::FatTree given;
    given.set_levels(levels);
    given.set_radix(radix);
    given.set_oversubscription(oversubscription);
    given.set_load_balancing(balancing);
    given.set_pods(pods);
    return fat_tree(given);
}

inline scenario::FabricSpec grid(std::string const& kind, std::string const& shape) {
    scenario::FabricSpec spec;
    spec.set_kind(kind);
    auto& d = kind == "torus" ? *spec.mutable_torus() : *spec.mutable_mesh();
    d.set_shape(shape);
    d.set_link_rate(giga_bytes(50));
    d.set_link_latency((200_ns).ps());
    d.set_lanes(1);
    d.set_injection_latency((100_ns).ps());
    return spec;
}

inline scenario::FabricSpec hyperx(std::string const& shape, std::uint32_t hosts_per_router) {
    scenario::FabricSpec spec;
    spec.set_kind("hyperx");
    auto& d = *spec.mutable_hyperx();
    d.set_shape(shape);
    d.set_hosts_per_router(hosts_per_router);
    d.set_lanes(1);
    d.set_link_rate(400'000'000'000);
    d.set_link_latency((500_ns).ps());
    d.set_host_rate(400'000'000'000);
    d.set_host_latency((500_ns).ps());
    return spec;
}

struct Dim {
    std::string type;
    std::uint32_t size;
};
inline scenario::FabricSpec dimensions(std::vector<Dim> const& dims, Time injection = 10_ns) {
    scenario::FabricSpec spec;
    spec.set_kind("dimensions");
    spec.mutable_dimensions()->set_injection_latency(injection.ps());
    for (auto const& dim : dims) {
        auto& d = *spec.mutable_dimensions()->add_dims();
        d.set_type(dim.type);
        d.set_size(dim.size);
        d.set_rate(giga_bytes(50));
        d.set_latency((500_ns).ps());
        d.set_lanes(1);
    }
    return spec;
}

// Well formed, a way for every pair, and the figures of its formulas as they are counted on its links.
inline void expect_figures_hold(Fabric& fabric) {
    auto const figures = fabric.figures();
    FabricMeasure const measure(fabric);
    EXPECT_EQ(figures.ranks, fabric.rank_count());
    EXPECT_EQ(figures.links, static_cast<std::int64_t>(fabric.links().size()));
    EXPECT_EQ(figures.ranks + figures.switches + figures.other_nodes, static_cast<std::int64_t>(fabric.nodes().size()));
    EXPECT_EQ(figures.diameter_hops, measure.diameter());
    EXPECT_EQ(figures.bisection, measure.halves());
    for (std::uint32_t a = 0; a < fabric.rank_count(); ++a) {
        auto const reach = measure.reach(NodeId{a});
        for (std::uint32_t b = 0; b < fabric.rank_count(); ++b) {
            if (a == b) continue;
            EXPECT_EQ(fabric.route(RankId{a}, RankId{b}).hop_count, reach.hops[b]) << a << " to " << b;
            if (a < 4) expect_connected(fabric, RankId{a}, RankId{b});
        }
    }
    expect_well_formed(fabric);
}

}  // namespace orrery::testing
