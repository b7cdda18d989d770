// SPDX-License-Identifier: Apache-2.0
// Fabrics node by node: names and ranges, parallel links, hosts with several ports or without a switch, refusals.
#include "tests/netmodels/fabric_testing.hpp"

namespace orrery::testing {
namespace {

TEST(GraphFabric, LeafSpineInThreeLines) {
    NamedFabric fabric(graph(8, {{"leaf", 2}, {"spine", 2}},
                             {{"h0..3", "leaf0", 100}, {"h4..7", "leaf1", 100}, {"leaf*", "spine*", 200}}));
    auto const figures = fabric->figures();
    EXPECT_EQ(figures.ranks, 8);
    EXPECT_EQ(figures.switches, 4);
    EXPECT_EQ(figures.links, 2 * (8 + 4));
    EXPECT_EQ(figures.diameter_hops, 4);
    EXPECT_EQ(figures.bisection, 400_Gbps);
    EXPECT_EQ(figures.paths[0].shortest_paths, 2);
    EXPECT_EQ(fabric->link_name(LinkId{0}), "h0-leaf0.up");
    EXPECT_EQ(fabric.link("leaf1-spine0.down").rate, 200_Gbps);
    expect_figures_hold(*fabric);
}

TEST(GraphFabric, ParallelLinksStayParallel) {
    auto const wires = std::vector<Wire>{{"h0..3", "s0", 100}, {"h4..7", "s1", 100}, {"s0", "s1", 100, 4}};
    NamedFabric sprayed(graph(8, {{"s", 2}}, wires));
    EXPECT_EQ(sprayed.bundle("s0-s1.*").capacity, 400_Gbps);
    sprayed.degrade({down("s0-s1.2")});
    EXPECT_EQ(sprayed.bundle("s0-s1.*").capacity, 300_Gbps);
    expect_well_formed(*sprayed);
    NamedFabric hashed(
        graph(16, {{"s", 2}}, {{"h0..7", "s0", 100}, {"h8..15", "s1", 100}, {"s0", "s1", 100, 4}}, "ecmp"));
    std::set<BundleId> used;
    for (std::uint32_t a = 0; a < 8; ++a)
        for (std::uint32_t b = 8; b < 16; ++b) used.insert(hashed.route(a, b).hops[1]);
    EXPECT_EQ(used.size(), 4U) << "64 pairs over four links";
    hashed.degrade({down("s0-s1.[012]")});
    for (std::uint32_t a = 0; a < 4; ++a) EXPECT_EQ(hashed->bundle_name(hashed.route(a, 8).hops[1]), "s0-s1.3");
}

// DGX-1: two quads joined all to all, each GPU with its twin, and one ring more.
TEST(GraphFabric, RanksWithoutASwitchPassTrafficOn) {
    NamedFabric dgx(
        graph(8, {}, {{"h0..3", "h0..3", 200}, {"h4..7", "h4..7", 200}, {"h0..3", "h4..7", 200, 1, "zip"}}));
    EXPECT_EQ(dgx->figures().ranks, 8);
    EXPECT_EQ(dgx->figures().switches, 8) << "a router beside each";
    EXPECT_EQ(dgx.route(0, 1).hop_count, 3U);
    EXPECT_EQ(dgx.route(0, 1).latency, 510_ns);
    EXPECT_EQ(dgx.route(0, 5).hop_count, 4U) << "over a twin";
    expect_figures_hold(*dgx);
}

TEST(GraphFabric, HostsWithPortsInTwoPlanesUseTheNearer) {
    NamedFabric fabric(graph(4, {{"near", 1}, {"far", 3}},
                             {{"h0, h1", "near", 100, 1, "all", "a"},
                              {"h0, h2", "far0", 100, 1, "all", "b"},
                              {"far0", "far1", 100, 1, "all", "b"},
                              {"far1", "far2", 100, 1, "all", "b"},
                              {"h1, h3", "far2", 100, 1, "all", "b"}}));
    EXPECT_EQ(fabric->domain_count(), 2U);
    EXPECT_EQ(fabric.route(0, 1).hop_count, 2U);
    EXPECT_EQ(fabric.route(0, 3).hop_count, 4U);
    EXPECT_NE(fabric.route(0, 1).domain, fabric.route(0, 3).domain);
    fabric.degrade({down("h1-near.down")});
    EXPECT_EQ(fabric.route(0, 1).hop_count, 4U) << "over the other plane";
    expect_well_formed(*fabric);
    EXPECT_NE(input_error([] { make_fabric(graph(3, {{"s", 1}}, {{"h0, h1", "s"}, {"h2", "h2"}}), 1); }), "")
        << "h2 is linked to nothing";
}

TEST(GraphFabric, WhatIsNoNodeIsRefusedWithTheNearest) {
    auto const error = input_error([] { make_fabric(graph(2, {{"leaf", 2}}, {{"h0", "laef0"}}), 1); });
    EXPECT_NE(error.find("fabric.graph.links[0].b = 'laef0'"), error.npos) << error;
    EXPECT_NE(error.find("'leaf0'"), error.npos) << error;
    EXPECT_NE(input_error([] { make_fabric(graph(2, {{"leaf", 1}}, {{"h0..2", "leaf"}}), 1); }), "");
    EXPECT_NE(input_error([] { make_fabric(graph(2, {{"h0", 1}}, {{"h0", "h1"}}), 1); }), "")
        << "two nodes of one name";
    auto const lost = input_error([] {
        make_fabric(graph(4, {{"a", 1}, {"b", 1}}, {{"h0, h1", "a"}, {"h2, h3", "b"}}), 1)->route(RankId{0}, RankId{2});
    });
    EXPECT_NE(lost.find("nothing links them"), lost.npos) << lost;
}

}  // namespace
}  // namespace orrery::testing
