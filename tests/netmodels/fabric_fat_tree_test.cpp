// SPDX-License-Identifier: Apache-2.0
// Fat-trees: counts and sums in closed form, spreading, oversubscription, damage, and one of 65,536 hosts.
#include "tests/netmodels/fabric_testing.hpp"

#include <ctime>

namespace orrery::testing {
namespace {

TEST(FatTree, FiguresAreThoseOfKAryTrees) {
    for (std::uint32_t const k : {4U, 6U}) {
        NamedFabric fabric(fat_tree(3, k));
        auto const figures = fabric->figures();
        EXPECT_EQ(figures.ranks, k * k * k / 4);
        EXPECT_EQ(figures.switches, 5 * k * k / 4);
        EXPECT_EQ(figures.links, 2 * 3 * k * k * k / 4);
        EXPECT_EQ(figures.diameter_hops, 6);
        EXPECT_EQ(figures.bisection, (400_Gbps) * (k * k * k / 8));
        ASSERT_EQ(figures.paths.size(), 3U);
        EXPECT_EQ(figures.paths[1].shortest_paths, k / 2);
        EXPECT_EQ(figures.paths[2].shortest_paths, k * k / 4);
        EXPECT_EQ(FabricMeasure(*fabric).reach(NodeId{0}).paths[k * k * k / 4 - 1], k * k / 4);
        EXPECT_EQ(fabric.route(0, k * k * k / 4 - 1).latency, 3_us) << "six wires of 0.5 us";
        expect_figures_hold(*fabric);
    }
    NamedFabric two(fat_tree(2, 8));
    EXPECT_EQ(two->figures().ranks, 32);
    EXPECT_EQ(two->figures().switches, 8 + 4);
    expect_figures_hold(*two);
}

TEST(FatTree, OversubscriptionTakesPortsFromTheWayUp) {
    NamedFabric fabric(fat_tree(3, 8, 3));  // 6 ports down, 2 up
    EXPECT_EQ(fabric->figures().ranks, 8 * 4 * 6);
    EXPECT_EQ(fabric->figures().tiers[0].oversubscription, 3);
    EXPECT_EQ(fabric->figures().bisection, (400_Gbps) * (4 * 2 * 4));
    EXPECT_EQ(fabric.bundle("p0.e0-p0.a*.up").capacity, 800_Gbps);
    EXPECT_EQ(fabric.bundle("p0.e0-p0.a*.up").offered, 2400_Gbps);
    expect_figures_hold(*fabric);
    EXPECT_NE(input_error([] { make_fabric(fat_tree(3, 8, 2), 1); }), "") << "8 ports do not divide 2:1";
    EXPECT_NE(input_error([] { make_fabric(fat_tree(3, 7), 1); }), "");
    EXPECT_NE(input_error([] { make_fabric(fat_tree(3, 4, 1, "spray", 5), 1); }), "");
}

TEST(FatTree, EcmpHashesPairsOverAllCores) {
    NamedFabric fabric(fat_tree(3, 8, 1, "ecmp"));
    std::map<BundleId, int> used;
    for (std::uint32_t a = 0; a < 16; ++a)
        for (std::uint32_t b = 16; b < 128; ++b) {
            auto const route = fabric.route(a, b);
            ++used[route.hops[2]];
            EXPECT_EQ(route.cap, 400_Gbps);
        }
    EXPECT_EQ(used.size(), 16U) << "links of four aggregation switches to four cores each";
    for (auto const& [bundle, count] : used) EXPECT_NEAR(count, 16 * 112 / 16, 40) << fabric->bundle_name(bundle);
    expect_figures_hold(*fabric);
}

TEST(FatTree, DamageCostsWhatItCutsAndIsRoutedAround) {
    NamedFabric sprayed(fat_tree(3, 4));  // two ways up at each level
    sprayed.degrade({down("p0.e0-p0.a0.up"), slower("p1.a1-c2.down", 0.125)});
    EXPECT_EQ(sprayed.route(0, 15).cap, 400_Gbps) << "one of two links up carries all of one host";
    sprayed.degrade({slower("p0.a1-c*.up", 0.25)});
    EXPECT_EQ(sprayed.route(0, 15).cap, 200_Gbps) << "two of them at a quarter";
    EXPECT_EQ(sprayed.route(0, 4).cap, 150_Gbps) << "to the second pod one of the two has an eighth on its way down";
    sprayed.degrade({down("p0.e0-p0.a1.up")});
    auto const error = input_error([&] { sprayed.route(0, 15); });
    EXPECT_NE(error.find("p0.e0-p0.a1.up"), error.npos) << error;

    NamedFabric hashed(fat_tree(3, 4, 1, "ecmp"));
    hashed.degrade({down("p0.a0-c*.up")});
    for (std::uint32_t b = 4; b < 16; ++b) {
        EXPECT_EQ(hashed->bundle_name(hashed.route(0, b).hops[1]), "p0.e0-p0.a1.up");
        EXPECT_EQ(hashed.route(0, b).hop_count, 6U);
    }
}

TEST(FatTree, SixtyFiveThousandHostsBuildInSeconds) {
    auto const begin = std::clock();
    auto const fabric = make_fabric(fat_tree(3, 64), 1);
    auto const seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(fabric->rank_count(), 65'536U);
    EXPECT_EQ(fabric->links().size(), 393'216U);
    EXPECT_LT(seconds, 5);
    auto const bytes = fabric->nodes().size_bytes() + fabric->links().size_bytes() + fabric->bundles().size_bytes() +
                       fabric->members().size_bytes();
    EXPECT_LT(bytes, 64U << 20);
    EXPECT_EQ(fabric->route(RankId{0}, RankId{65'535}).hop_count, 6U);
    EXPECT_EQ(fabric->link_name(LinkId{0}), "h00000-p00.e00.up");
}

}  // namespace
}  // namespace orrery::testing
