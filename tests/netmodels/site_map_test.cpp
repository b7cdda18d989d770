// SPDX-License-Identifier: Apache-2.0
// Sites: every bundle has one owner, by rule, and an exchange concerns those that its routes cross.
#include "netmodels/exchange/site_map.hpp"

#include "tests/netmodels/topology_testing.hpp"

#include <algorithm>

namespace orrery::testing {
namespace {

struct Mapped {
    Mapped(scenario::FabricSpec const& spec, std::uint32_t first, std::uint32_t members, std::uint32_t groups = 1)
        : fabric(make_fabric(spec, 1)) {
        for (std::uint32_t g = 0; g < groups; ++g) {
            firsts.emplace_back(first + g * members);
            layouts.emplace_back(*fabric, firsts.back(), members);
        }
        map = std::make_unique<SiteMap>(*fabric, layouts, firsts);
    }

    std::unique_ptr<Fabric> fabric;
    std::vector<RankId> firsts;
    std::vector<GroupLayout> layouts;
    std::unique_ptr<SiteMap> map;
};

scenario::FabricSpec super_nodes(std::uint32_t count, double oversubscription) {
    scenario::CloudMatrix384 spec;
    spec.set_supernodes(count);
    spec.set_nodes(2);
    spec.set_npus_per_node(2);
    auto fabric = cloudmatrix(spec);
    fabric.mutable_cloudmatrix384()->mutable_rdma()->set_oversubscription(oversubscription);
    return fabric;
}

void expect_one_owner_each(Mapped const& mapped) {
    auto const& map = *mapped.map;
    std::vector<int> owners(mapped.fabric->bundles().size(), 0);
    for (std::uint32_t s = 0; s < map.count(); ++s) {
        auto const& site = map.site(SiteId{s});
        EXPECT_TRUE(std::is_sorted(site.bundles.begin(), site.bundles.end()));
        for (std::uint32_t i = 0; i < site.bundles.size(); ++i) {
            ++owners[site.bundles[i].index()];
            EXPECT_EQ(map.owner(site.bundles[i]), SiteId{s});
            EXPECT_EQ(map.index_at_owner(site.bundles[i]), i);
            EXPECT_EQ(mapped.fabric->bundles()[site.bundles[i].index()].domain, site.domain);
        }
    }
    for (std::size_t b = 0; b < owners.size(); ++b) {
        auto const domain = mapped.fabric->bundles()[b].domain;
        bool const used = std::any_of(mapped.layouts.begin(), mapped.layouts.end(),
                                      [&](auto const& layout) { return layout.part(domain) != nullptr; });
        EXPECT_EQ(owners[b], used ? 1 : 0) << mapped.fabric->bundle_name(BundleId{static_cast<std::uint32_t>(b)});
    }
}

TEST(SiteMap, EveryBundleHasOneOwner) {
    expect_one_owner_each({single_switch(5), 1, 3});
    expect_one_owner_each({leaf_spine(), 12, 8, 3});
    expect_one_owner_each({super_nodes(3, 2), 0, 12, 2});
    expect_one_owner_each({super_nodes(2, 1), 3, 9});
}

TEST(SiteMap, ASiteIsALeafWithItsRanksInUse) {
    Mapped const mapped(leaf_spine(), 12, 8);  // leaves of eight: ranks 12..15 and 16..19
    auto const& map = *mapped.map;
    ASSERT_EQ(map.count(), 2U);
    EXPECT_EQ(map.site(SiteId{0}).first_rank, RankId{12});
    EXPECT_EQ(map.site(SiteId{0}).ranks, 4U);
    EXPECT_EQ(map.site(SiteId{1}).first_rank, RankId{16});
    EXPECT_EQ(map.site_of(DomainId{0}, RankId{19}), SiteId{1});
    EXPECT_FALSE(map.site_of(DomainId{0}, RankId{3}).valid());
    EXPECT_EQ(map.notice(), 2_us);
}

TEST(SiteMap, OwnsTheWayUpAtTheSourceAndDownAtTheTarget) {
    scenario::LeafSpine spec;
    spec.set_oversubscription(2);
    Mapped const mapped(leaf_spine(spec), 0, 16);
    auto const route = mapped.fabric->route(RankId{1}, RankId{9});
    ASSERT_EQ(route.hop_count, 4U);
    for (std::uint32_t hop = 0; hop < 4; ++hop)
        EXPECT_EQ(mapped.map->owner(route.hops[hop]), SiteId{hop < 2 ? 0U : 1U}) << hop;
    auto const way = mapped.map->way(route);
    EXPECT_EQ(std::vector<SiteId>(way.all().begin(), way.all().end()), (std::vector<SiteId>{SiteId{0}, SiteId{1}}));
    EXPECT_FALSE(mapped.map->site(SiteId{0}).relays);
}

TEST(SiteMap, OnlyBundlesThatBindBringAThirdSite) {
    for (auto const oversubscription : {1.0, 2.0}) {
        Mapped const mapped(super_nodes(2, oversubscription), 0, 16);
        auto const& map = *mapped.map;
        DomainId const rdma{2};
        auto const route = mapped.fabric->route(RankId{5}, RankId{14});  // second node of each super-node
        ASSERT_EQ(route.domain, rdma);
        EXPECT_EQ(map.way(route).count, oversubscription > 1 ? 4U : 2U);
        EXPECT_EQ(map.site(map.first_site(rdma)).relays, oversubscription > 1);
        EXPECT_EQ(map.concerned(0, rdma).size(), 4U);
        EXPECT_EQ(map.concerned(0, DomainId{0}).size(), 2U);
    }
}

TEST(SiteMap, SitesOfDifferentGroupsAreNoPeers) {
    Mapped const mapped(single_switch(6), 0, 3, 2);
    EXPECT_EQ(mapped.map->site(SiteId{0}).peers, (std::vector<SiteId>{SiteId{1}, SiteId{2}}));
    EXPECT_EQ(mapped.map->site(SiteId{5}).peers, (std::vector<SiteId>{SiteId{3}, SiteId{4}}));
}

}  // namespace
}  // namespace orrery::testing
