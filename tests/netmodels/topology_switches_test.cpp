// SPDX-License-Identifier: Apache-2.0
// Leaf-spine, single switch, and picking a fabric by name.
#include "netmodels/topology/nearest.hpp"
#include "topology_testing.hpp"

namespace orrery::testing {
namespace {

scenario::FabricSpec oversubscribed(double factor, std::string const& balancing = "spray") {
    scenario::LeafSpine given;
    given.set_oversubscription(factor);
    given.set_load_balancing(balancing);
    return leaf_spine(given);
}

TEST(LeafSpine, OversubscriptionSetsTheRateOfSpineLinks) {
    for (int const factor : {1, 2, 4}) {
        NamedFabric fabric(oversubscribed(factor));
        Rate const link = Rate::from_bits_per_s(400'000'000'000 / factor);  // 8 hosts x 400 Gb/s over 8 spines
        EXPECT_EQ(fabric.link("leaf3-spine5.up").rate, link);
        Bundle const& up = fabric.bundle("leaf3-spine*.up");
        EXPECT_EQ(up.capacity, link * 8);
        EXPECT_EQ(up.offered, (400_Gbps) * 8);
        EXPECT_EQ(up.offered <= up.capacity, factor == 1) << "it can bind only when oversubscribed";
        EXPECT_EQ(fabric->figures().tiers[0].oversubscription, factor);
        EXPECT_EQ(fabric->figures().bisection, link * 8 * 4);
        EXPECT_EQ(fabric.route(0, 8).cap, 400_Gbps);
    }
}

TEST(LeafSpine, RatesThatDoNotDivideAreRoundedToNearest) {
    scenario::LeafSpine given;
    given.set_spines(3);
    EXPECT_EQ(NamedFabric(leaf_spine(given)).link("leaf0-spine1.down").rate, Rate::from_bits_per_s(1'066'666'666'667));
}

TEST(LeafSpine, RoutesAndLatencies) {
    scenario::LeafSpine given;
    given.set_switch_latency((100_ns).ps());
    for (std::string const balancing : {"spray", "ecmp"}) {
        given.set_load_balancing(balancing);
        NamedFabric fabric(leaf_spine(given));
        EXPECT_EQ(fabric.route(0, 7).latency, 1100_ns) << "two wires, one switch";
        EXPECT_EQ(fabric.route(0, 8).latency, 2300_ns) << "four wires, three switches";
        EXPECT_EQ(fabric->figures().paths[0].latency, 1100_ns);
        EXPECT_EQ(fabric->figures().paths[1].latency, 2300_ns);
        EXPECT_EQ(fabric->figures().paths[1].shortest_paths, 8);
        for (std::uint32_t target = 1; target < 64; target += 5) {
            expect_connected(*fabric, RankId{0}, RankId{target});
            expect_connected(*fabric, RankId{target}, RankId{0});
        }
        expect_well_formed(*fabric);
    }
}

TEST(LeafSpine, ASprayedTransferKeepsWhatTheOtherSpinesCarry) {
    NamedFabric fabric(oversubscribed(8));  // 50 Gb/s to each of 8 spines
    EXPECT_EQ(fabric.route(0, 8).cap, 400_Gbps);
    fabric.degrade({down("leaf0-spine3.up"), down("leaf1-spine4.down"), slower("leaf1-spine5.down", 0.5)});
    EXPECT_EQ(fabric.bundle("leaf0-spine*.up").capacity, 350_Gbps);
    EXPECT_EQ(fabric.route(0, 8).cap, 275_Gbps);
}

TEST(LeafSpine, EcmpHashesPairsOverAllSpinesBySeed) {
    NamedFabric a(oversubscribed(1, "ecmp"), 1), b(oversubscribed(1, "ecmp"), 2);
    std::map<BundleId, int> used;
    int moved = 0, pairs = 0;
    for (std::uint32_t source = 0; source < 8; ++source) {
        for (std::uint32_t target = 8; target < 64; ++target, ++pairs) {
            Route const route = a.route(source, target);
            EXPECT_EQ(route.hops[1], a.route(source, target).hops[1]);
            ++used[route.hops[1]];
            moved += route.hops[1] != b.route(source, target).hops[1] ? 1 : 0;
        }
    }
    EXPECT_EQ(used.size(), 8U);
    for (auto const& [bundle, count] : used) EXPECT_NEAR(count, pairs / 8, 30) << a->bundle_name(bundle);
    EXPECT_GT(moved, pairs * 3 / 4) << "another seed is another hash";
}

TEST(LeafSpine, EcmpAvoidsSpinesThatDoNotJoinBothLeaves) {
    NamedFabric fabric(oversubscribed(1, "ecmp"));
    fabric.degrade({down("leaf0-spine[0-5].up"), down("leaf1-spine6.down")});
    for (std::uint32_t source = 0; source < 8; ++source)
        for (std::uint32_t target = 8; target < 16; ++target)
            EXPECT_EQ(fabric->bundle_name(fabric.route(source, target).hops[1]), "leaf0-spine7.up");
    fabric.degrade({down("leaf1-spine7.down")});
    std::string const error = input_error([&] { fabric.route(0, 8); });
    EXPECT_NE(error.find("leaf1-spine7.down"), error.npos) << error;
    EXPECT_EQ(fabric.route(8, 0).cap, 400_Gbps);
}

TEST(LeafSpine, HostsThatDoNotDivideAreRefusedWithTheNearestCounts) {
    scenario::LeafSpine given;
    given.set_hosts(60);
    std::string const error = input_error([&] { make_fabric(leaf_spine(given), 1); });
    EXPECT_NE(error.find("use 56 or 64"), error.npos) << error;
}

TEST(SingleSwitch, PortsAreAllThereIs) {
    NamedFabric fabric(single_switch(12));
    EXPECT_EQ(fabric->links().size(), 24U);
    EXPECT_EQ(fabric->domain_count(), 1U);
    EXPECT_EQ(fabric.route(3, 11).latency, 1_us);
    EXPECT_EQ(fabric.route(3, 11).cap, 400_Gbps);
    EXPECT_EQ(fabric->link_name(LinkId{7}), "h03-switch.down");
    EXPECT_EQ(fabric->figures().bisection, (400_Gbps) * 6);
    for (std::uint32_t target = 1; target < 12; ++target) expect_connected(*fabric, RankId{0}, RankId{target});
    expect_well_formed(*fabric);
}

TEST(FabricRegistry, KnowsTheShippedFabricsAndSuggests) {
    EXPECT_EQ(fabric_kinds(), (std::vector<std::string>{"ascend950", "cloudmatrix384", "dimensions", "dragonfly",
                                                        "dragonfly_plus", "fat_tree", "file", "full_mesh", "graph",
                                                        "hyperx", "leaf_spine", "mesh", "rail_optimised",
                                                        "single_switch", "torus"}));
    scenario::FabricSpec spec;
    spec.set_kind("leaf_spin");
    std::string const error = input_error([&] { make_fabric(spec, 1); });
    EXPECT_NE(error.find("'leaf_spin'"), error.npos) << error;
    EXPECT_NE(error.find("did you mean 'leaf_spine'"), error.npos) << error;
    EXPECT_EQ(make_fabric(single_switch(2), 1)->kind(), "single_switch");
}

TEST(NearestNames, CountsEditsAroundWildcards) {
    auto const distance = [](auto pattern, auto name) { return PatternDistance(pattern).to(name); };
    EXPECT_EQ(distance("leaf", "leaf"), 0U);
    EXPECT_EQ(distance("laef", "leaf"), 2U);
    EXPECT_EQ(distance("sn0.*.up", "sn0.n03.d05-l1.2.up"), 0U);
    EXPECT_EQ(distance("sn0.n3.*.up", "sn0.n03.d05-l1.2.up"), 1U);
    EXPECT_EQ(distance("h?.up", "h12.up"), 1U);
    PatternDistance repeated("h1*.up");
    for (auto const* name : {"h12.up", "h12.down", "h1.up", "h1", "g1.up", "h12.up", ""})
        EXPECT_EQ(repeated.to(name), distance("h1*.up", name)) << name;
    NearestNames nearest("ab");
    for (auto const* name : {"xyz", "ac", "abc", "ab", "ad"}) nearest.offer(name);
    EXPECT_EQ(nearest.text(), "'ab', 'ac' or 'abc'");
}

}  // namespace
}  // namespace orrery::testing
