// SPDX-License-Identifier: Apache-2.0
// Rail-optimised fabrics: scale-up beside rails, ports to two leaves or two planes, damage to either.
#include "tests/netmodels/fabric_testing.hpp"

namespace orrery::testing {
namespace {

TEST(RailOptimised, FiguresForEveryAttachment) {
    struct Expected {
        char const* attachment;
        std::int64_t leaves, spines, ways;
    };
    for (auto const& [attachment, leaves, spines, ways] :
         {Expected{"single", 8, 2, 2}, {"dual_tor", 16, 2, 8}, {"dual_plane", 16, 4, 4}}) {
        NamedFabric fabric(rail_optimised({.attachment = attachment}));
        auto const figures = fabric->figures();
        EXPECT_EQ(figures.ranks, 32);
        EXPECT_EQ(figures.switches, 8 * 4 + leaves + spines) << attachment;
        EXPECT_EQ(figures.diameter_hops, 4);
        EXPECT_EQ(figures.bisection, (400_Gbps) * 16) << "non-blocking";
        EXPECT_EQ(figures.paths.back().shortest_paths, ways);
        EXPECT_EQ(FabricMeasure(*fabric).reach(NodeId{0}).paths[31], ways) << attachment;
        EXPECT_EQ(fabric->domain_count(), 9U) << "each server and the rails";
        expect_figures_hold(*fabric);
    }
}

TEST(RailOptimised, EqualNumbersMeetAtOneLeafAndServersInside) {
    NamedFabric fabric(rail_optimised({}));
    EXPECT_EQ(fabric.route(1, 2).cap, 450_GBps) << "over four chips together";
    EXPECT_EQ(fabric.route(1, 2).latency, 500_ns);
    EXPECT_EQ(fabric->bundle_name(fabric.route(1, 2).hops[0]), "s0.g1-s0.x*.up");
    EXPECT_EQ(fabric.route(1, 5).hop_count, 2U) << "one rail";
    EXPECT_EQ(fabric.route(1, 5).latency, 1_us);
    EXPECT_EQ(fabric.route(1, 6).hop_count, 4U) << "another rail";
    EXPECT_EQ(fabric.route(1, 17).hop_count, 4U) << "another unit";
    EXPECT_NE(fabric.route(1, 2).domain, fabric.route(1, 5).domain);
    EXPECT_NE(input_error([] { make_fabric(rail_optimised({.servers = 6}), 1); }), "");
}

TEST(RailOptimised, DualTorOutlivesALeafAndDualPlaneHalvesItsRate) {
    NamedFabric tor(rail_optimised({.attachment = "dual_tor"}));
    tor.degrade({down("*-u0.rail1.0.*")});
    EXPECT_EQ(tor.route(1, 17).cap, 200_Gbps) << "the port that is left";
    tor.degrade({down("s4.g1-u1.rail1.1.*")});
    EXPECT_EQ(tor.route(1, 17).cap, 200_Gbps) << "spines join both sides of a rail";
    NamedFabric plane(rail_optimised({.attachment = "dual_plane"}));
    plane.degrade({down("*-u0.rail1.0.*")});
    EXPECT_EQ(plane.route(1, 17).cap, 200_Gbps);
    plane.degrade({down("s4.g1-u1.rail1.1.*")});
    EXPECT_NE(input_error([&] { plane.route(1, 17); }), "") << "planes never meet";
    EXPECT_EQ(plane.route(1, 2).cap, 450_GBps);
    plane.degrade({down("s0.g1-s0.x0.up"), slower("s0.g2-s0.x1.down", 0.5)});
    EXPECT_EQ(plane.route(1, 2).cap.bits_per_s(), giga_bytes(450) / 4 * 5 / 2) << "two chips whole, one at half";
}

TEST(RailOptimised, EcmpHashesPairsOverPortsAndSpines) {
    NamedFabric fabric(rail_optimised({.attachment = "dual_plane", .balancing = "ecmp"}));
    std::map<std::string, int> used;
    for (std::uint32_t a = 0; a < 16; ++a)
        for (std::uint32_t b = 16; b < 32; ++b) {
            auto const route = fabric.route(a, b);
            EXPECT_EQ(route.cap, 200_Gbps) << "one port";
            auto const name = fabric->bundle_name(route.hops[1]);
            ++used[name.substr(name.find("plane"))];
        }
    EXPECT_EQ(used.size(), 4U);
    for (auto const& [spine, count] : used) EXPECT_NEAR(count, 64, 24) << spine;
    EXPECT_EQ(fabric.route(1, 2).cap, 450_GBps) << "scale-up is sprayed whatever the rails do";
    expect_figures_hold(*fabric);
}

}  // namespace
}  // namespace orrery::testing
