// SPDX-License-Identifier: Apache-2.0
// CloudMatrix384 as built: every published sum, recomputed from the physical links.
#include "topology_testing.hpp"

#include <queue>

namespace orrery::testing {
namespace {

class CloudMatrix384 : public ::testing::Test {
  protected:
    // Sum of the rates of links whose name passes.
    template <class Wanted>
    Rate sum(Wanted wanted) const {
        Rate total;
        for (std::uint32_t i = 0; i < fabric_->links().size(); ++i)
            if (wanted(std::string_view(fabric_->link_name(LinkId{i})))) total += fabric_->links()[i].rate;
        return total;
    }
    std::int64_t class_links(std::string const& name) const {
        for (auto const& row : fabric_->figures().classes)
            if (row.link_class == name) return row.links;
        return 0;
    }
    std::vector<NodeId> of_kind(NodeKind kind, std::string_view part) const {
        std::vector<NodeId> result;
        for (std::uint32_t i = 0; i < fabric_->nodes().size(); ++i)
            if (fabric_->nodes()[i].kind == kind && fabric_->node_name(NodeId{i}).find(part) != std::string::npos)
                result.push_back(NodeId{i});
        return result;
    }
    bool is_ub(Link const& link) const {
        auto const& plane = fabric_->link_classes()[fabric_->bundles()[link.bundle.index()].link_class].plane;
        return plane == "ub" || plane == "sio";
    }

    // Shortest paths from one die over UB and SIO links; transfers do not pass through endpoints.
    struct Reach {
        std::vector<int> hops;
        std::vector<std::int64_t> paths;
    };
    Reach reach_from(NodeId start) const {
        std::vector<std::vector<NodeId>> next(fabric_->nodes().size());
        for (Link const& link : fabric_->links())
            if (is_ub(link)) next[link.from.index()].push_back(link.to);
        Reach reach{std::vector<int>(next.size(), -1), std::vector<std::int64_t>(next.size(), 0)};
        std::queue<NodeId> open;
        open.push(start);
        reach.hops[start.index()] = 0;
        reach.paths[start.index()] = 1;
        while (!open.empty()) {
            NodeId const at = open.front();
            open.pop();
            if (at != start && fabric_->nodes()[at.index()].kind != NodeKind::switch_chip) continue;
            for (NodeId const to : next[at.index()]) {
                if (reach.hops[to.index()] < 0) {
                    reach.hops[to.index()] = reach.hops[at.index()] + 1;
                    open.push(to);
                }
                if (reach.hops[to.index()] == reach.hops[at.index()] + 1)
                    reach.paths[to.index()] += reach.paths[at.index()];
            }
        }
        return reach;
    }

    NamedFabric fabric_{cloudmatrix()};
};

TEST_F(CloudMatrix384, CountsNodes) {
    EXPECT_EQ(fabric_->rank_count(), 768U);
    EXPECT_EQ(of_kind(NodeKind::endpoint, ".d").size(), 768U);
    EXPECT_EQ(of_kind(NodeKind::cpu, ".c").size(), 192U);
    EXPECT_EQ(of_kind(NodeKind::switch_chip, ".l1.").size(), 336U);
    EXPECT_EQ(of_kind(NodeKind::switch_chip, ".l2.").size(), 112U);
    EXPECT_EQ(fabric_->figures().switches, 336 + 112);
    EXPECT_EQ(fabric_->figures().ranks, 768);
}

TEST_F(CloudMatrix384, CountsLinks) {
    for (std::string const direction : {".up", ".down"}) {
        EXPECT_EQ(class_links("ub.die-l1" + direction), 5376);
        EXPECT_EQ(class_links("ub.cpu-l1" + direction), 1344);
        EXPECT_EQ(class_links("ub.l1-l2" + direction), 5376);
        EXPECT_EQ(class_links("rdma.die" + direction), 768);
        EXPECT_EQ(class_links("vpc.node" + direction), 48);
        EXPECT_EQ(class_links("rdma.supernode" + direction), 0) << "nothing to join in one super-node";
    }
    EXPECT_EQ(class_links("sio.die-die"), 2 * 384);
}

TEST_F(CloudMatrix384, SumsOfRates) {
    auto const up = [](std::string_view name) { return name.ends_with(".up"); };
    EXPECT_EQ(sum([&](auto n) { return n.starts_with("sn0.n07.d05-l1.") && up(n); }), 196_GBps);
    EXPECT_EQ(
        sum([&](auto n) { return (n.starts_with("sn0.n07.d04-l1.") || n.starts_with("sn0.n07.d05-l1.")) && up(n); }),
        392_GBps);
    EXPECT_EQ(sum([&](auto n) { return n.starts_with("sn0.n07.d") && n.ends_with("-l1.3.down"); }), 448_GBps);
    EXPECT_EQ(sum([&](auto n) { return n.starts_with("sn0.n07.l1.3-l2.") && up(n); }), 448_GBps);
    EXPECT_EQ(sum([&](auto n) { return n.starts_with("sn0.n07.l1.") && up(n); }), 3136_GBps);
    EXPECT_EQ(3136_GBps, (392_GBps) * 8);
    EXPECT_EQ(sum([&](auto n) { return n.find(".l1.3-l2.") != n.npos && up(n); }), 21504_GBps);
    EXPECT_EQ(sum([&](auto n) { return n.find("-l2.") != n.npos && up(n); }), 150528_GBps);
    EXPECT_EQ(sum([&](auto n) {
                  return n.starts_with("sn0.n07.") && n.find("-l1.") != n.npos && up(n);  // dies and CPUs
              }),
              3776_GBps);
    EXPECT_EQ(fabric_.link("sn0.n07.d04-d05.sio").rate, 270_GBps);
    EXPECT_EQ(fabric_.link("sn0.n07.d04-rdma.up").rate, 186_Gbps);  // 0.93 of line rate, for every model
    EXPECT_EQ(fabric_.link("sn0.n07.vpc.up").rate, 400_Gbps);
    EXPECT_EQ(fabric_->figures().bisection, 75264_GBps);
}

TEST_F(CloudMatrix384, TiersAreOneToOneForNpusAloneAndBlockWithCpus) {
    auto const tiers = fabric_->figures().tiers;
    ASSERT_EQ(tiers.size(), 3U);
    EXPECT_EQ(tiers[0].down, 448_GBps);
    EXPECT_EQ(tiers[0].up, 448_GBps);
    EXPECT_EQ(tiers[1].oversubscription, 1.0);
    EXPECT_EQ(tiers[2].down, 3776_GBps);
    EXPECT_EQ(tiers[2].up, 3136_GBps);
    EXPECT_NEAR(tiers[2].oversubscription, 1.20, 0.005);
}

TEST_F(CloudMatrix384, EveryL2ChipHasOnePortPerNode) {
    std::map<NodeId, std::map<std::string, int>> ports;  // L2 chip -> node of the far end -> up links
    for (Link const& link : fabric_->links()) {
        std::string const from = fabric_->node_name(link.from), to = fabric_->node_name(link.to);
        if (to.find(".l2.") != std::string::npos) ++ports[link.to][from.substr(0, from.find(".l1."))];
    }
    ASSERT_EQ(ports.size(), 112U);
    for (auto const& [chip, nodes] : ports) {
        EXPECT_EQ(nodes.size(), 48U) << fabric_->node_name(chip);
        for (auto const& [node, count] : nodes) EXPECT_EQ(count, 1) << node;
    }
}

TEST_F(CloudMatrix384, SubplanesNeverMeet) {
    std::vector<std::vector<NodeId>> next(fabric_->nodes().size());
    for (Link const& link : fabric_->links())
        if (is_ub(link)) next[link.from.index()].push_back(link.to);
    std::vector<int> plane(fabric_->nodes().size(), -1);
    for (int p = 0; p < 7; ++p) {
        std::vector<NodeId> open{fabric_.node("sn0.n00.l1." + std::to_string(p))};
        EXPECT_EQ(plane[open[0].index()], -1) << "sub-plane " << p << " was already reached";
        plane[open[0].index()] = p;
        int chips = 0;
        while (!open.empty()) {
            NodeId const at = open.back();
            open.pop_back();
            ++chips;
            for (NodeId const to : next[at.index()]) {
                if (fabric_->nodes()[to.index()].kind != NodeKind::switch_chip) continue;
                EXPECT_TRUE(plane[to.index()] == -1 || plane[to.index()] == p);
                if (plane[to.index()] == -1) open.push_back(to);
                plane[to.index()] = p;
            }
        }
        EXPECT_EQ(chips, 48 + 16);
    }
}

TEST_F(CloudMatrix384, CountsShortestPaths) {
    Reach const reach = reach_from(NodeId{0});
    EXPECT_EQ(reach.hops[1], 1);
    EXPECT_EQ(reach.paths[1], 1);
    EXPECT_EQ(reach.hops[2], 2);
    EXPECT_EQ(reach.paths[2], 7);
    EXPECT_EQ(reach.hops[767], 4);
    EXPECT_EQ(reach.paths[767], 112);
    auto const figures = fabric_->figures();
    ASSERT_EQ(figures.paths.size(), 3U);
    std::uint32_t const example[] = {1, 2, 767};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(figures.paths[i].shortest_paths, reach.paths[example[i]]);
        EXPECT_EQ(figures.paths[i].hops, reach.hops[example[i]]);
        EXPECT_EQ(figures.paths[i].latency, fabric_.route(0, example[i]).latency);
    }
    EXPECT_EQ(figures.diameter_hops, *std::max_element(reach.hops.begin(), reach.hops.begin() + 768));
}

TEST_F(CloudMatrix384, LatencyAndCapByDistance) {
    EXPECT_EQ(fabric_.route(0, 1).latency, 200_ns);
    EXPECT_EQ(fabric_.route(0, 2).latency, 700_ns);
    EXPECT_EQ(fabric_.route(0, 16).latency, 2100_ns);
    EXPECT_EQ(fabric_.route(0, 1).cap, 270_GBps);
    EXPECT_EQ(fabric_.route(0, 2).cap, 196_GBps);
    EXPECT_EQ(fabric_.route(0, 16).cap, 196_GBps);
}

TEST_F(CloudMatrix384, RoutesFollowLinks) {
    for (std::uint32_t const target : {1U, 2U, 15U, 16U, 17U, 400U, 767U}) {
        expect_connected(*fabric_, RankId{0}, RankId{target});
        expect_connected(*fabric_, RankId{target}, RankId{0});
    }
    EXPECT_EQ(fabric_.route(0, 1).hop_count, 1U);
    EXPECT_EQ(fabric_.route(0, 2).hop_count, 2U);
    EXPECT_EQ(fabric_.route(0, 16).hop_count, 4U);
}

TEST_F(CloudMatrix384, NodesAreNeverBottlenecksForNpuTrafficAlone) {
    Bundle const& node = fabric_.bundle("sn0.n07.l1.*-l2.*.up");
    EXPECT_EQ(node.member_count, 112U);
    EXPECT_EQ(node.capacity, 3136_GBps);
    EXPECT_LE(node.offered, node.capacity);
    Bundle const& die = fabric_.bundle("sn0.n07.d03-l1.*.down");
    EXPECT_EQ(die.capacity, 196_GBps);
    EXPECT_GT(die.offered, die.capacity) << "an endpoint is always a candidate";
}

TEST_F(CloudMatrix384, NamesPeopleCanRead) {
    EXPECT_EQ(fabric_->rank_name(RankId{16 * 3 + 5}), "super-node 0, node 3, NPU 2, die 1");
    EXPECT_EQ(fabric_->node_name(NodeId{16 * 3 + 5}), "sn0.n03.d05");
    EXPECT_EQ(fabric_->domain_name(DomainId{0}), "sn0.ub");
    EXPECT_EQ(fabric_->ranks_per_block(), 16U);
    Link const& link = fabric_.link("sn0.n03.l1.2-l2.07.down");
    EXPECT_EQ(link.from, fabric_.node("sn0.l2.2.07"));
    EXPECT_EQ(link.to, fabric_.node("sn0.n03.l1.2"));
}

TEST(CloudMatrix384SuperNodes, AreJoinedByRdmaOnly) {
    scenario::CloudMatrix384 given;
    given.set_supernodes(2);
    given.mutable_rdma()->set_oversubscription(4);
    NamedFabric fabric(cloudmatrix(given));
    EXPECT_EQ(fabric->rank_count(), 1536U);
    EXPECT_EQ(fabric->domain_count(), 4U);
    Route const route = fabric.route(5, 768 + 300);
    expect_connected(*fabric, RankId{5}, RankId{768 + 300});
    EXPECT_EQ(fabric->domain_name(route.domain), "rdma");
    EXPECT_EQ(route.latency, 5_us);
    EXPECT_EQ(route.cap, 186_Gbps) << "0.93 of line rate";
    EXPECT_EQ(fabric.link("sn1.rdma.up").rate, Rate::from_bits_per_s(768LL * 46'500'000'000));
    Bundle const& uplink = fabric.bundle("sn1.rdma.up");
    EXPECT_EQ(uplink.offered, (186_Gbps) * 768);
    EXPECT_EQ(uplink.capacity * 4, uplink.offered);
    EXPECT_NE(fabric.route(0, 16).domain, fabric.route(768, 768 + 16).domain);
    EXPECT_EQ(fabric->figures().bisection, fabric.link("sn1.rdma.up").rate);
    EXPECT_EQ(fabric->figures().tiers.back().oversubscription, 4.0);
}

TEST(CloudMatrix384SuperNodes, FortyThreeFitInMemory) {
    scenario::CloudMatrix384 given;
    given.set_supernodes(43);
    auto const fabric = make_fabric(cloudmatrix(given), 1);
    EXPECT_EQ(fabric->rank_count(), 33'024U);
    EXPECT_EQ(fabric->links().size(), 43U * (2 * (5376 + 5376 + 1344 + 768 + 48 + 1) + 768));
    EXPECT_LT(fabric->nodes().size_bytes() + fabric->links().size_bytes() + fabric->bundles().size_bytes() +
                  fabric->members().size_bytes(),
              64U << 20);
    expect_connected(*fabric, RankId{0}, RankId{33'023});
    EXPECT_EQ(fabric->degrade(std::vector{down("sn42.n47.d15-l1.6.up")}).links, std::vector<std::int64_t>{1});
}

}  // namespace
}  // namespace orrery::testing
