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

struct Rails {
    std::uint32_t servers = 8, gpus = 4, per_unit = 4, spines = 2;
    std::string attachment = "single", balancing = "spray";
};
inline scenario::FabricSpec rail_optimised(Rails const& rails) {
    scenario::FabricSpec spec;
    spec.set_kind("rail_optimised");
    auto& d = *spec.mutable_rail_optimised();
    d.set_servers(rails.servers);
    d.set_gpus_per_server(rails.gpus);
    d.set_scale_up_rate(giga_bytes(450));
    d.set_scale_up_switches(4);
    d.set_scale_up_latency((250_ns).ps());
    d.set_nic_rate(400'000'000'000);
    d.set_attachment(rails.attachment);
    d.set_servers_per_unit(rails.per_unit);
    d.set_spines(rails.spines);
    d.set_oversubscription(1);
    d.set_link_latency((500_ns).ps());
    d.set_switch_latency(0);
    d.set_load_balancing(rails.balancing);
    return spec;
}

inline scenario::FabricSpec dragonfly(std::uint32_t hosts, std::uint32_t routers, std::uint32_t links,
                                      std::uint32_t groups, std::string const& routing = "minimal",
                                      std::uint32_t ports = 0) {
    scenario::FabricSpec spec;
    spec.set_kind("dragonfly");
    auto& d = *spec.mutable_dragonfly();
    d.set_hosts_per_router(hosts);
    d.set_routers_per_group(routers);
    d.set_links_per_pair(links);
    d.set_groups(groups);
    d.set_global_ports(ports);
    d.set_host_rate(200'000'000'000);
    d.set_local_rate(200'000'000'000);
    d.set_global_rate(200'000'000'000);
    d.set_local_latency((100_ns).ps());
    d.set_global_latency((500_ns).ps());
    d.set_switch_latency((300_ns).ps());
    d.set_routing(routing);
    return spec;
}

inline scenario::FabricSpec dragonfly_plus(std::uint32_t hosts, std::uint32_t leaves, std::uint32_t spines,
                                           std::uint32_t links, std::uint32_t groups,
                                           std::string const& routing = "minimal", std::uint32_t ports = 0) {
    scenario::FabricSpec spec;
    spec.set_kind("dragonfly_plus");
    auto& d = *spec.mutable_dragonfly_plus();
    d.set_hosts_per_leaf(hosts);
    d.set_leaves(leaves);
    d.set_spines(spines);
    d.set_links_per_pair(links);
    d.set_groups(groups);
    d.set_global_ports(ports);
    d.set_host_rate(200'000'000'000);
    d.set_local_rate(200'000'000'000);
    d.set_global_rate(200'000'000'000);
    d.set_local_latency((100_ns).ps());
    d.set_global_latency((500_ns).ps());
    d.set_switch_latency((300_ns).ps());
    d.set_routing(routing);
    return spec;
}

inline scenario::FabricSpec full_mesh(std::string const& rack, std::string const& pod, std::uint32_t pods) {
    scenario::FabricSpec spec;
    spec.set_kind("full_mesh");
    auto& d = *spec.mutable_full_mesh();
    d.set_rack(rack);
    d.set_pod(pod);
    d.set_pods(pods);
    d.set_npu_link_rate(472'000'000'000);
    d.set_planes(4);
    d.set_uplink_rate(472'000'000'000);
    d.set_rack_link_rate(3'776'000'000'000);
    d.set_spines(4);
    d.set_oversubscription(4);
    d.set_npu_link_latency((200_ns).ps());
    d.set_uplink_latency((200_ns).ps());
    d.set_rack_link_latency((500_ns).ps());
    d.set_injection_latency((100_ns).ps());
    return spec;
}

inline scenario::FabricSpec ascend950(std::uint32_t racks, std::string const& rack = "8x8") {
    scenario::FabricSpec spec;
    spec.set_kind("ascend950");
    auto& d = *spec.mutable_ascend950();
    d.set_racks(racks);
    d.set_rack(rack);
    d.set_port_rate(giga_bytes(56));
    d.set_uplinks(4);
    d.set_spines(8);
    d.set_oversubscription(1);
    d.set_npu_link_latency((200_ns).ps());
    d.set_uplink_latency((200_ns).ps());
    d.set_rack_link_latency((500_ns).ps());
    d.set_injection_latency((100_ns).ps());
    return spec;
}

struct Wire {
    std::string a, b;
    std::int64_t giga_bits = 400;
    std::uint32_t lanes = 1;
    std::string pairing = "all", plane = "fabric";
};
inline scenario::FabricSpec graph(std::uint32_t ranks, std::map<std::string, std::uint32_t> const& switches,
                                  std::vector<Wire> const& wires, std::string const& balancing = "spray") {
    scenario::FabricSpec spec;
    spec.set_kind("graph");
    auto& d = *spec.mutable_graph();
    d.set_ranks(ranks);
    d.set_load_balancing(balancing);
    d.set_injection_latency((10_ns).ps());
    for (auto const& [name, count] : switches) {
        auto& s = *d.add_switches();
        s.set_name(name);
        s.set_count(count);
    }
    for (auto const& wire : wires) {
        auto& l = *d.add_links();
        l.set_a(wire.a);
        l.set_b(wire.b);
        l.set_rate(wire.giga_bits * 1'000'000'000);
        l.set_latency((500_ns).ps());
        l.set_lanes(wire.lanes);
        l.set_pairing(wire.pairing);
        l.set_plane(wire.plane);
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
