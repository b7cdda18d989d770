// SPDX-License-Identifier: Apache-2.0
// Torus, mesh, HyperX and products of dimensions: closed forms, latencies of known machines, ways around damage.
#include "tests/netmodels/fabric_testing.hpp"

namespace orrery::testing {
namespace {

TEST(Torus, FiguresOfCubes) {
    NamedFabric cube(grid("torus", "4x4x4"));
    auto const figures = cube->figures();
    EXPECT_EQ(figures.ranks, 64);
    EXPECT_EQ(figures.switches, 64);
    EXPECT_EQ(figures.links, 2 * 64 + 2 * 3 * 64) << "three links of its own for each router, both ways";
    EXPECT_EQ(figures.diameter_hops, 2 + 3 * 2);
    EXPECT_EQ(figures.bisection, (50_GBps) * (2 * 16)) << "two links for each of 16 rings";
    EXPECT_EQ(figures.paths.back().shortest_paths, 90 * 8) << "6!/(2!2!2!) orders, each ring either way";
    EXPECT_EQ(figures.paths.back().latency, 1300_ns) << "100 ns in, six links of 200 ns";
    EXPECT_EQ(FabricMeasure(*cube).reach(NodeId{0}).paths[2 + 4 * 2 + 16 * 2], 90 * 8);
    expect_figures_hold(*cube);
}

TEST(Torus, SixteenCubedHasTheLongestWays) {
    auto const cube = make_fabric(grid("torus", "16x16x16"), 1);
    auto const far = cube->route(RankId{0}, RankId{8 + 16 * 8 + 256 * 8});
    EXPECT_EQ(far.hop_count, 26U);
    EXPECT_EQ(cube->figures().diameter_hops, 26);
    EXPECT_EQ(far.latency, 100_ns + (200_ns) * 24);
    EXPECT_NE(input_error([] { make_fabric(grid("torus", "64x64x64"), 1); }), "") << "no route holds 98 hops";
}

TEST(Torus, OddRingsAndRingsOfTwo) {
    for (auto const* shape : {"5x2", "3", "2x2x2", "1x4"}) {
        NamedFabric fabric(grid("torus", shape));
        FabricMeasure const measure(*fabric);
        EXPECT_EQ(fabric->figures().diameter_hops, measure.diameter()) << shape;
        expect_well_formed(*fabric);
    }
    EXPECT_NE(input_error([] { make_fabric(grid("torus", "4y4"), 1); }), "");
    EXPECT_NE(input_error([] { make_fabric(grid("torus", "4x"), 1); }), "");
}

// All pairs half-way round a ring: by turns, each direction carries half of them.
TEST(Torus, TiesAreSharedByBothDirections) {
    NamedFabric ring(grid("torus", "8"));
    std::map<BundleId, int> used;
    for (std::uint32_t a = 0; a < 8; ++a) {
        auto const route = ring.route(a, (a + 4) % 8);
        for (std::uint32_t h = 1; h + 1 < route.hop_count; ++h) ++used[route.hops[h]];
    }
    EXPECT_EQ(used.size(), 16U);
    for (auto const& [bundle, count] : used) EXPECT_EQ(count, 2) << ring->bundle_name(bundle);
}

TEST(Mesh, HasEdgesAndGoesAroundADeadLink) {
    NamedFabric mesh(grid("mesh", "4x3"));
    EXPECT_EQ(mesh->figures().links, 2 * 12 + 2 * (3 * 3 + 4 * 2));
    EXPECT_EQ(mesh->figures().diameter_hops, 2 + 3 + 2);
    NamedFabric even(grid("mesh", "3x4"));
    expect_figures_hold(*even);
    EXPECT_EQ(mesh.route(0, 1).hop_count, 3U);
    mesh.degrade({down("r0.0-r0.1")});
    EXPECT_EQ(mesh.route(0, 1).hop_count, 5U) << "over the next row";
    EXPECT_EQ(mesh.route(1, 0).hop_count, 3U) << "the other direction is whole";
    mesh.degrade({down("r0.0-r1.0")});
    auto const error = input_error([&] { mesh.route(0, 1); });
    EXPECT_NE(error.find("r0.0-r1.0"), error.npos) << error;
}

TEST(HyperX, FiguresOfAhnEtAl) {
    NamedFabric fabric(hyperx("4x4", 4));
    auto const figures = fabric->figures();
    EXPECT_EQ(figures.ranks, 64);
    EXPECT_EQ(figures.switches, 16);
    EXPECT_EQ(figures.diameter_hops, 2 + 2);
    EXPECT_EQ(figures.links, 2 * 64 + 2 * (2 * 4 * 6)) << "4 lines each way of 4 x 3 / 2";
    EXPECT_EQ(figures.bisection, (400_Gbps) * (4 * 4)) << "4 lines, 2 x 2 links of each";
    EXPECT_EQ(fabric->node_name(NodeId{5}), "n0.1.t1");
    expect_figures_hold(*fabric);
}

TEST(Dimensions, AreThoseOfAstraSim) {
    NamedFabric ring(dimensions({{"ring", 8}}, 0_ns));
    EXPECT_EQ(ring.route(0, 1).latency, 500_ns) << "one link, nothing else";
    EXPECT_EQ(ring.route(0, 5).latency, 1500_ns) << "the shorter way";
    EXPECT_EQ(ring.route(0, 1).cap, 50_GBps);
    NamedFabric hub(dimensions({{"switch", 8}}));
    EXPECT_EQ(hub->figures().switches, 1);
    EXPECT_EQ(hub.route(0, 1).latency, 1_us) << "to the switch and from it";
    expect_figures_hold(*hub);
    NamedFabric full(dimensions({{"fully_connected", 6}}));
    EXPECT_EQ(full->figures().switches, 0);
    EXPECT_EQ(full.route(0, 5).hop_count, 1U);
    EXPECT_EQ(full->figures().bisection, (50_GBps) * 9);
    expect_figures_hold(*full);
}

TEST(Dimensions, ProductsRouteTheInnermostFirst) {
    NamedFabric fabric(dimensions({{"ring", 4}, {"fully_connected", 2}, {"switch", 2}}));
    EXPECT_EQ(fabric->rank_count(), 16U);
    auto const route = fabric.route(0, 1 + 4 + 8);
    ASSERT_EQ(route.hop_count, 6U);
    EXPECT_EQ(fabric->bundle_name(route.hops[1]), "r0.0.0-r0.0.1");
    EXPECT_EQ(fabric->bundle_name(route.hops[2]), "r0.0.1-r0.1.1");
    EXPECT_EQ(fabric->bundle_name(route.hops[3]), "r0.1.1-sx.1.1.up");
    EXPECT_EQ(fabric->bundle_name(route.hops[4]), "r1.1.1-sx.1.1.down");
    EXPECT_EQ(route.latency, 2010_ns);
    expect_figures_hold(*fabric);
    EXPECT_NE(input_error([] { make_fabric(dimensions({{"rnig", 4}}), 1); }), "");
    EXPECT_NE(input_error([] { make_fabric(dimensions({}), 1); }), "");
}

}  // namespace
}  // namespace orrery::testing
