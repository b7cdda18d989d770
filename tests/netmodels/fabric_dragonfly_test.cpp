// SPDX-License-Identifier: Apache-2.0
// Dragonfly and dragonfly+: counts, how groups are joined, minimal and Valiant ways, shapes that cannot be.
#include "tests/netmodels/fabric_testing.hpp"

namespace orrery::testing {
namespace {

// A way of every pair that follows its links; no longer than `most` hops.
void expect_ways(Fabric const& fabric, std::uint32_t most) {
    for (std::uint32_t b = 1; b < fabric.rank_count(); ++b) {
        EXPECT_LE(fabric.route(RankId{0}, RankId{b}).hop_count, most);
        if (b % 7 == 0) expect_connected(fabric, RankId{0}, RankId{b});
    }
}

TEST(Dragonfly, Of136Hosts) {
    NamedFabric fabric(dragonfly(2, 4, 1, 17));
    auto const figures = fabric->figures();
    EXPECT_EQ(figures.ranks, 136);
    EXPECT_EQ(figures.switches, 68);
    std::map<std::string, std::int64_t> links;
    for (auto const& row : figures.classes) links[row.link_class] = row.links;
    EXPECT_EQ(links["global.up"] + links["global.down"], 17 * 16) << "16 global ports of each group";
    EXPECT_EQ(links["local.up"], 17 * 6);
    EXPECT_EQ(figures.diameter_hops, 2 + 3) << "three between routers";
    EXPECT_EQ(FabricMeasure(*fabric).diameter(), 2 + 3);
    EXPECT_EQ(figures.tiers[0].up, (200_Gbps) * 16);
    std::map<std::uint32_t, int> ports;  // global ports of each router
    for (auto const& link : fabric->links())
        if (link.latency == 800_ns) ++ports[link.from.value()];
    EXPECT_EQ(ports.size(), 68U);
    for (auto const& [router, count] : ports) EXPECT_EQ(count, 4) << router;
    expect_ways(*fabric, 5);
    expect_well_formed(*fabric);
}

TEST(Dragonfly, AGroupPairThatNoPortIsLeftForIsRefused) {
    auto const error = input_error([] { make_fabric(dragonfly(2, 4, 1, 18, "minimal", 4), 1); });
    EXPECT_NE(error.find("at most 17 groups"), error.npos) << error;
    EXPECT_EQ(input_error([] { make_fabric(dragonfly(2, 4, 1, 17, "minimal", 4), 1); }), "");
    EXPECT_NE(input_error([] { make_fabric(dragonfly_plus(2, 2, 2, 2, 4, "minimal", 2), 1); }), "");
}

TEST(Dragonfly, ValiantGoesOverAThirdGroup) {
    NamedFabric fabric(dragonfly(2, 4, 1, 9, "valiant"));
    auto const global_links = [&](std::uint32_t a, std::uint32_t b) {
        int count = 0;
        auto const route = fabric.route(a, b);
        for (auto const id : route.bundles())
            count += fabric->link_classes()[fabric->bundles()[id.index()].link_class].name.starts_with("global");
        return count;
    };
    std::map<std::string, int> over;
    for (std::uint32_t b = 8; b < 72; ++b) {
        EXPECT_EQ(global_links(0, b), 2);
        auto const route = fabric.route(0, b);
        for (auto const id : route.bundles())
            if (auto const name = fabric->bundle_name(id); name.starts_with("g0.") && name.find("-g0") == name.npos)
                ++over[name];
    }
    EXPECT_GE(over.size(), 6U) << "spread over other groups";
    EXPECT_EQ(global_links(0, 7), 0) << "one group";
    expect_ways(*fabric, 7);
}

TEST(Dragonfly, SeveralLinksOfAPairAreSharedAndADeadOneIsLeftOut) {
    NamedFabric fabric(dragonfly(4, 2, 2, 3));
    EXPECT_EQ(FabricMeasure(*fabric).diameter(), fabric->figures().diameter_hops);
    EXPECT_EQ(FabricMeasure(*fabric).halves() >= (200_Gbps) * 4, true);
    expect_well_formed(*fabric);
    NamedFabric one(dragonfly(2, 2, 1, 3));
    one.degrade({down("g0.r*-g1.r*")});
    EXPECT_EQ(one.route(0, 4).cap, 200_Gbps) << "over the third group";
    one.degrade({down("g0.r*-g2.r*")});
    EXPECT_NE(input_error([&] { one.route(0, 4); }), "");
    EXPECT_EQ(one.route(4, 0).cap, 200_Gbps) << "the way back is whole";
}

TEST(DragonflyPlus, LeavesAndSpinesInGroups) {
    NamedFabric fabric(dragonfly_plus(2, 4, 4, 2, 5));
    auto const figures = fabric->figures();
    EXPECT_EQ(figures.ranks, 40);
    EXPECT_EQ(figures.switches, 40);
    EXPECT_EQ(figures.diameter_hops, 5) << "leaf, spine, spine, leaf between the hosts";
    EXPECT_EQ(FabricMeasure(*fabric).diameter(), 5);
    EXPECT_EQ(figures.links, 2 * (40 + 5 * 16 + 10 * 2));
    EXPECT_EQ(fabric.route(0, 1).hop_count, 2U);
    EXPECT_EQ(fabric.route(0, 2).hop_count, 4U);
    EXPECT_EQ(fabric.route(0, 39).latency, 400_ns * 3 + 100_ns + 800_ns);
    expect_ways(*fabric, 5);
    expect_well_formed(*fabric);
    NamedFabric far(dragonfly_plus(2, 4, 4, 2, 5, "valiant"));
    EXPECT_EQ(far.route(0, 39).hop_count, 8U) << "two spines, a leaf of a third group, two spines";
    expect_ways(*far, 8);
}

}  // namespace
}  // namespace orrery::testing
