// SPDX-License-Identifier: Apache-2.0
// Degraded links: what striped and sprayed transfers lose, and what is refused.
#include "topology_testing.hpp"

namespace orrery::testing {
namespace {

scenario::FabricSpec two_nodes(std::string const& striping) {
    scenario::CloudMatrix384 given;
    given.set_nodes(2);
    given.set_striping(striping);
    return cloudmatrix(given);
}

TEST(Degrade, OneL2ChipCostsOne112thUnderAdaptiveStriping) {
    NamedFabric fabric(cloudmatrix());
    EXPECT_EQ(fabric.degrade({down("sn0.n*.l1.2-l2.05.*")}), std::vector<std::int64_t>{2 * 48});
    Bundle const& node = fabric.bundle("sn0.n07.l1.*-l2.*.up");
    EXPECT_EQ(node.capacity.bits_per_s() * 112, (3136_GBps).bits_per_s() * 111);
    EXPECT_GT(node.offered, node.capacity) << "now it can bind";
    EXPECT_EQ(fabric.route(0, 16).cap, 196_GBps) << "one die alone still has room in sub-plane 2";
    EXPECT_EQ(fabric.route(0, 16).latency, 2100_ns);
}

TEST(Degrade, OneL2ChipCostsOne16thUnderEvenStriping) {
    scenario::CloudMatrix384 given;
    given.set_striping("even");
    NamedFabric fabric(cloudmatrix(given));
    EXPECT_EQ(fabric.bundle("sn0.n07.l1.*-l2.*.up").capacity, 3136_GBps);
    fabric.degrade({down("sn0.n*.l1.2-l2.05.*")});
    EXPECT_EQ(fabric.bundle("sn0.n07.l1.*-l2.*.up").capacity, 2940_GBps) << "7 x (15 x 28)";
}

TEST(Degrade, HalfALinkCostsHalfOfItOrOfEverything) {
    for (bool const even : {false, true}) {
        NamedFabric fabric(two_nodes(even ? "even" : "adaptive"));
        fabric.degrade({slower("sn0.n0.d05-l1.3.up", 0.5)});
        Rate const expected = even ? 98_GBps : 182_GBps;
        EXPECT_EQ(fabric.route(5, 16).cap, expected);
        EXPECT_EQ(fabric.route(5, 0).cap, expected);
        EXPECT_EQ(fabric.bundle("sn0.n0.d05-l1.*.up").capacity, expected);
        EXPECT_EQ(fabric.route(6, 16).cap, 196_GBps);
        EXPECT_EQ(fabric.route(16, 5).cap, 196_GBps) << "the other direction is whole";
    }
}

TEST(Degrade, ADeadDieLinkLeavesItsSubplaneOut) {
    for (std::string const striping : {"adaptive", "even"}) {
        NamedFabric fabric(two_nodes(striping));
        fabric.degrade({down("sn0.n0.d05-l1.3.up"), down("sn0.n1.d00-l1.4.down")});
        EXPECT_EQ(fabric.route(5, 17).cap, 168_GBps) << striping;
        EXPECT_EQ(fabric.route(5, 16).cap, 140_GBps) << "each end loses another sub-plane";
    }
}

TEST(Degrade, AnL2ChipTurnsTheSlowerOfItsTwoLinks) {
    scenario::CloudMatrix384 given;
    given.set_nodes(2);
    given.set_subplanes(1);
    given.set_l2_chips_per_subplane(4);
    given.set_l1_l2_link_rate(giga_bytes(5));
    NamedFabric fabric(cloudmatrix(given));
    EXPECT_EQ(fabric.route(0, 16).cap, 20_GBps);
    fabric.degrade({down("sn0.n0.l1.0-l2.0.up"), down("sn0.n1.l1.0-l2.1.down")});
    EXPECT_EQ(fabric.bundle("sn0.n0.l1.*-l2.*.up").capacity, 15_GBps);
    EXPECT_EQ(fabric.bundle("sn0.n1.l1.*-l2.*.down").capacity, 15_GBps);
    EXPECT_EQ(fabric.route(0, 16).cap, 10_GBps) << "only chips 2 and 3 join both";
    EXPECT_EQ(fabric.route(16, 0).cap, 20_GBps);
}

TEST(Degrade, ExtraLatencyIsThatOfTheSlowestPathInUse) {
    NamedFabric fabric(two_nodes("adaptive"));
    fabric.degrade({longer("sn0.n0.d05-l1.3.up", 1_us), longer("sn0.n0.l1.6-l2.00.up", 500_ns)});
    EXPECT_EQ(fabric.route(5, 16).latency, 3100_ns) << "sub-plane 3; sub-plane 6 is longer by less";
    EXPECT_EQ(fabric.route(5, 0).latency, 1700_ns);
    EXPECT_EQ(fabric.route(0, 16).latency, 2600_ns);
    EXPECT_EQ(fabric.route(0, 2).latency, 700_ns);
    EXPECT_EQ(fabric.bundle("sn0.n0.d05-l1.*.up").latency, 1160_ns);
    fabric.degrade({down("sn0.n0.d05-l1.3.up")});
    EXPECT_EQ(fabric.route(5, 0).latency, 700_ns) << "a dead link delays nothing";

    NamedFabric other(two_nodes("adaptive"));
    other.degrade({longer("*.sio", 50_ns)});
    EXPECT_EQ(other.route(0, 1).latency, 250_ns);
}

TEST(Degrade, NothingLeftIsRefusedWithTheLinks) {
    NamedFabric fabric(two_nodes("adaptive"));
    fabric.degrade({down("sn0.n0.d05-l1.*.up"), down("sn0.n1.d04-d05.sio")});
    std::string const dead = input_error([&] { fabric.route(5, 16); });
    EXPECT_NE(dead.find("no path from sn0.n0.d05 to sn0.n1.d00"), dead.npos) << dead;
    EXPECT_NE(dead.find("sn0.n0.d05-l1.6.up"), dead.npos) << dead;
    EXPECT_EQ(fabric.route(16, 5).cap, 196_GBps);
    std::string const sio = input_error([&] { fabric.route(20, 21); });
    EXPECT_NE(sio.find("sn0.n1.d04-d05.sio"), sio.npos) << sio;
    EXPECT_EQ(fabric.route(21, 20).cap, 270_GBps);

    for (auto const& spec : {two_nodes("even"), leaf_spine(), single_switch(4)}) {
        NamedFabric all(spec);
        all.degrade({down("*")});
        for (std::uint32_t target = 1; target < all->rank_count(); ++target)
            EXPECT_NE(input_error([&] { all.route(0, target); }), "") << spec.kind() << " 0 -> " << target;
    }
}

TEST(Degrade, SubplanesCutAtDifferentHopsLeaveNone) {
    scenario::CloudMatrix384 given;
    given.set_nodes(2);
    given.set_subplanes(2);
    NamedFabric fabric(cloudmatrix(given));
    fabric.degrade({down("sn0.n0.d00-l1.0.up"), down("sn0.n1.l1.1-l2.*.down")});
    std::string const error = input_error([&] { fabric.route(0, 16); });
    EXPECT_NE(error.find("sn0.n0.d00-l1.0.up"), error.npos) << error;
    EXPECT_NE(error.find("sn0.n1.l1.1-l2.00.down"), error.npos) << error;
    EXPECT_EQ(fabric.route(2, 16).cap, 28_GBps);
}

TEST(Degrade, APatternWithoutAMatchIsRefusedWithTheNearestNames) {
    NamedFabric fabric(cloudmatrix());
    Degradation wrong = down("sn0.n3.d05-l1.2.up");
    wrong.where = "decode.yaml:14";
    std::string const error = input_error([&] { fabric.degrade({wrong}); });
    EXPECT_NE(error.find("decode.yaml:14"), error.npos) << error;
    EXPECT_NE(error.find("'sn0.n3.d05-l1.2.up'"), error.npos) << error;
    EXPECT_NE(error.find("'sn0.n03.d05-l1.2.up'"), error.npos) << error;
    EXPECT_NE(input_error([&] { fabric.degrade({slower("*", 0)}); }), "");
    EXPECT_NE(input_error([&] { fabric.degrade({slower("*", 1.5)}); }), "");
}

TEST(Degrade, SeveralDegradationsAddUp) {
    NamedFabric fabric(single_switch(4));
    auto const matched = fabric.degrade({slower("h2-*", 0.5), slower("*.up", 0.5), longer("*", 1_us)});
    EXPECT_EQ(matched, (std::vector<std::int64_t>{2, 4, 8}));
    EXPECT_EQ(fabric.route(2, 0).cap, 100_Gbps);
    EXPECT_EQ(fabric.route(0, 2).cap, 200_Gbps);
    EXPECT_EQ(fabric.route(0, 2).latency, 3_us);
}

TEST(Degrade, SpecificationListBecomesDegradations) {
    scenario::FabricSpec spec = single_switch(4);
    auto& entry = *spec.add_degrade();
    entry.set_links("h1-*.up");
    entry.set_rate_factor(0.25);
    entry.set_extra_latency((3_us).ps());
    auto const list = degradations_of(spec);
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].where, "fabric.degrade[0]");
    NamedFabric fabric(spec);
    EXPECT_EQ(fabric.route(1, 0).cap, 400_Gbps) << "make_fabric builds a healthy fabric";
    fabric.degrade(list);
    EXPECT_EQ(fabric.route(1, 0).cap, 100_Gbps);
    EXPECT_EQ(fabric.route(1, 0).latency, 4_us);
}

}  // namespace
}  // namespace orrery::testing
