// SPDX-License-Identifier: Apache-2.0
// Full meshes in levels (UB-Mesh) and the Ascend 950 super-pod: published counts, ways by level, damage to one plane.
#include "tests/netmodels/fabric_testing.hpp"

namespace orrery::testing {
namespace {

TEST(FullMesh, RackPodAndSuperPodOfUbMesh) {
    auto const superpod = make_fabric(full_mesh("8x8", "4x4", 8), 1);
    auto const figures = superpod->figures();
    EXPECT_EQ(figures.ranks, 8192) << "arXiv:2503.20377 sec. 3.3.4";
    EXPECT_EQ(figures.diameter_hops, 6);
    std::map<std::string, std::int64_t> links;
    for (auto const& row : figures.classes) links[row.link_class] = row.links;
    EXPECT_EQ(links["mesh.up"], 128 * 64 * 14 / 2) << "7 + 7 links of each NPU";
    EXPECT_EQ(links["rack.up"], 4 * 128 * 6 / 2) << "3 + 3 neighbours of each rack, in four planes";
    EXPECT_EQ(superpod->route(RankId{0}, RankId{63}).hop_count, 4U);
    EXPECT_EQ(superpod->route(RankId{0}, RankId{64}).hop_count, 5U);
    EXPECT_EQ(superpod->route(RankId{0}, RankId{1023}).hop_count, 6U) << "two steps over racks";
    EXPECT_EQ(superpod->route(RankId{0}, RankId{1024}).hop_count, 6U) << "over the Clos";
    EXPECT_EQ(superpod->route(RankId{0}, RankId{1}).cap, 472_Gbps);
    EXPECT_EQ(superpod->route(RankId{0}, RankId{64}).cap, 1888_Gbps) << "four planes together";
    EXPECT_EQ(superpod->rank_name(RankId{1024 + 65}), "pod 1, rack 1, NPU 1");
}

TEST(FullMesh, FiguresOfSmallOnes) {
    NamedFabric rack(full_mesh("3x3", "1", 1));
    EXPECT_EQ(rack->figures().switches, 9) << "routers alone";
    EXPECT_EQ(FabricMeasure(*rack).diameter(), rack->figures().diameter_hops);
    NamedFabric pod(full_mesh("2x2", "2x2", 1));
    expect_figures_hold(*pod);
    NamedFabric pods(full_mesh("2x2", "2x2", 2));
    expect_figures_hold(*pods);
}

TEST(FullMesh, DamageToAPlaneCostsItsShare) {
    NamedFabric pods(full_mesh("2x2", "2x2", 2));
    EXPECT_EQ(pods.route(0, 4).cap, 1888_Gbps);
    EXPECT_EQ(pods.route(0, 16).cap, 1888_Gbps) << "16 links of 118 Gb/s up: 472 x 4 / (4 x 4)";
    pods.degrade({down("p0.k0.x0-plane0.*"), slower("p0.k0.x1-p0.k1.x1", 0.0625)});
    EXPECT_EQ(pods.route(0, 16).cap, 1416_Gbps) << "three of four planes";
    EXPECT_EQ(pods.route(0, 4).cap, 1652_Gbps) << "three planes, and 3776 / 16 of the other";
    EXPECT_EQ(pods.route(4, 0).cap, 1888_Gbps);
}

TEST(Ascend950, SuperPodOf128Racks) {
    auto const superpod = make_fabric(ascend950(128), 1);
    auto const figures = superpod->figures();
    EXPECT_EQ(figures.ranks, 8192);
    EXPECT_EQ(figures.bisection, (56_GBps) * (64 * 64 * 4)) << "half the racks, four ports of each NPU";
    Rate ports;
    for (auto const& link : superpod->links())
        if (link.from == NodeId{8192}) ports += link.rate;
    EXPECT_EQ(ports, 1008_GBps + 1008_GBps) << "18 ports of 56 GB/s, and what its NPU takes";
    EXPECT_EQ(superpod->route(RankId{0}, RankId{7}).cap, 56_GBps);
    EXPECT_EQ(superpod->route(RankId{0}, RankId{8191}).cap, 224_GBps);
    NamedFabric small(ascend950(4, "2x2"));
    expect_figures_hold(*small);
}

}  // namespace
}  // namespace orrery::testing
