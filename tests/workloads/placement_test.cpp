// SPDX-License-Identifier: Apache-2.0
// Expert placement: slot arithmetic, EPLB against its published example, and placement files.
#include "workloads/moe/placement.hpp"

#include "core/check.hpp"
#include "proto/scenario.pb.h"
#include "tests/workloads/shared_data.hpp"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/eplb.hpp"
#include "workloads/moe/routing_source.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Loads = std::vector<std::uint64_t>;

// The example of the EPLB README: 2 layers of 12 experts, 16 replicas, 4 groups, 2 nodes, 8 GPUs.
std::vector<Loads> const readme_loads = {{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86},
                                         {20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27}};

class FixedLoads final : public RoutingSource {
  public:
    explicit FixedLoads(std::vector<Loads> loads) : loads_(std::move(loads)) {}
    void choose(std::uint32_t, std::uint64_t, std::span<std::uint16_t>) const override {}
    Loads expected_load(std::uint32_t layer) const override { return loads_[layer % loads_.size()]; }
    std::string describe() const override { return "fixed"; }

  private:
    std::vector<Loads> loads_;
};

PlacementSetup setup_of(char const* kind, std::uint32_t experts, std::uint32_t redundant, std::uint32_t shared,
                        std::uint32_t ep, std::uint32_t layers = 2) {
    PlacementSetup setup;
    setup.kind = kind;
    setup.experts = experts;
    setup.redundant = redundant;
    setup.shared_copies = shared;
    setup.ep = ep;
    setup.moe_layers = layers;
    return setup;
}

double imbalance(LayerPlacement const& where, Loads const& loads) {
    auto const ranks = rank_loads(where, loads);
    double const total = static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0}));
    return static_cast<double>(*std::max_element(ranks.begin(), ranks.end())) * static_cast<double>(ranks.size()) /
           total;
}

// Every slot is listed exactly once, under its own expert and rank.
void expect_consistent(LayerPlacement const& where, std::uint32_t experts) {
    std::set<std::uint32_t> slots;
    for (std::uint32_t expert = 0; expert < experts; ++expert) {
        EXPECT_LT(where.first_replica[expert], where.first_replica[expert + 1])
            << "expert " << expert << " has no slot";
        for (std::uint32_t i = where.first_replica[expert]; i < where.first_replica[expert + 1]; ++i) {
            Replica const replica = where.replicas[i];
            EXPECT_EQ(where.slot_expert[replica.slot], static_cast<std::int32_t>(expert));
            EXPECT_EQ(replica.rank, replica.slot / where.slots_per_rank);
            EXPECT_TRUE(slots.insert(replica.slot).second);
        }
    }
    for (Replica const shared : where.shared) {
        EXPECT_EQ(where.slot_expert[shared.slot], shared_slot);
        EXPECT_TRUE(slots.insert(shared.slot).second);
    }
    EXPECT_EQ(slots.size(), where.slot_expert.size());
}

TEST(Eplb, ReproducesTheBalanceOfItsPublishedExample) {
    PlacementSetup setup = setup_of("eplb", 12, 4, 0, 8);
    setup.n_group = 4;
    setup.ranks_per_node = 4;
    Placement const placement = make_placement(setup, FixedLoads(readme_loads));
    EXPECT_THAT(placement.describe(), HasSubstr("hierarchical over 2 nodes"));
    EXPECT_NEAR(imbalance(placement.layer(0), readme_loads[0]), 1.208, 0.0005);
    EXPECT_NEAR(imbalance(placement.layer(1), readme_loads[1]), 1.242, 0.0005);
    for (std::uint32_t layer = 0; layer < 2; ++layer) {
        expect_consistent(placement.layer(layer), 12);
        // A group's experts stay on one node.
        for (std::uint32_t group = 0; group < 4; ++group) {
            std::set<std::uint32_t> nodes;
            for (std::uint32_t expert = group * 3; expert < group * 3 + 3; ++expert)
                for (std::uint32_t i = placement.layer(layer).first_replica[expert];
                     i < placement.layer(layer).first_replica[expert + 1]; ++i)
                    nodes.insert(placement.layer(layer).replicas[i].rank / 4);
            EXPECT_EQ(nodes.size(), 1U) << "group " << group;
        }
    }
}

TEST(Eplb, ReplicatesTheHeaviestAndIsDeterministicAmongEquals) {
    // Loads 8, 4, 4, 4 with 6 slots: expert 0 gets a second replica, then is first among equals of 4 and gets a third.
    EplbShape shape;
    shape.slots_of_rank = {2, 2, 2};
    auto const placed = eplb_place({8, 4, 4, 4}, shape);
    EXPECT_EQ(std::count(placed.begin(), placed.end(), 0), 3);
    EXPECT_EQ(placed, eplb_place({8, 4, 4, 4}, shape));
    auto const equal = eplb_place({1, 1, 1}, shape);
    for (int expert = 0; expert < 3; ++expert) EXPECT_EQ(std::count(equal.begin(), equal.end(), expert), 2);
}

TEST(Eplb, BalancesASkewedLayerBetterThanExpertOrder) {
    RoutingSetup routing;
    routing.source = "zipf";
    routing.zipf_s = 0.8;
    routing.experts = 256;
    routing.top_k = 8;
    routing.moe_layers = 3;
    auto const source = make_routing_source(routing);
    Placement const plain = make_placement(setup_of("contiguous", 256, 32, 0, 32, 3), *source);
    Placement const balanced = make_placement(setup_of("eplb", 256, 32, 0, 32, 3), *source);
    for (std::uint32_t layer = 0; layer < 3; ++layer) {
        expect_consistent(balanced.layer(layer), 256);
        EXPECT_LT(imbalance(balanced.layer(layer), source->expected_load(layer)), 1.02);
        EXPECT_GT(imbalance(plain.layer(layer), source->expected_load(layer)), 1.3);
    }
}

TEST(Eplb, FallsBackToGlobalWhenGroupsDoNotDivideOverNodes) {
    PlacementSetup setup = setup_of("eplb", 12, 4, 0, 8);
    setup.n_group = 3;
    setup.ranks_per_node = 4;
    EXPECT_THAT(make_placement(setup, FixedLoads(readme_loads)).describe(), HasSubstr("eplb, global"));
}

TEST(Placement, CloudMatrixDecodeHasOneSlotPerDie) {
    for (char const* kind : {"contiguous", "eplb"}) {
        Placement const placement = make_placement(setup_of(kind, 256, 32, 32, 320), FixedLoads({Loads(256, 1)}));
        LayerPlacement const& where = placement.layer(0);
        expect_consistent(where, 256);
        EXPECT_EQ(placement.slots_per_rank(), 1U);
        EXPECT_EQ(where.shared.size(), 32U);
        for (std::uint32_t copy = 0; copy < 32; ++copy) EXPECT_EQ(where.shared[copy].rank, 10 * copy + 9);
        EXPECT_EQ(placement.distinct_layers(), 1U);
        EXPECT_TRUE(placement.warnings().empty());
    }
}

TEST(Placement, CloudMatrixPrefillHasTenSlotsPerDie) {
    Placement const placement = make_placement(setup_of("contiguous", 256, 32, 32, 32), FixedLoads({Loads(256, 1)}));
    LayerPlacement const& where = placement.layer(0);
    expect_consistent(where, 256);
    EXPECT_EQ(placement.slots_per_rank(), 10U);
    for (std::uint32_t rank = 0; rank < 32; ++rank) EXPECT_EQ(where.shared[rank].rank, rank);
    EXPECT_EQ(where.replicas[where.first_replica[0]].slot, 1U);  // expert 0 follows the shared copy of rank 0
}

TEST(Placement, UnevenSharedCopiesAreBalancedToo) {
    // 8 copies on 16 ranks of 3 slots: eight ranks have 2 routed slots, eight have 3.
    Placement const placement = make_placement(setup_of("eplb", 32, 8, 8, 16), FixedLoads({Loads(32, 5)}));
    expect_consistent(placement.layer(1), 32);
    EXPECT_EQ(placement.slots_per_rank(), 3U);
}

TEST(Placement, RefusesSlotsThatDoNotDivideWithTheNearestThatDo) {
    auto const refusal = [](PlacementSetup const& setup) {
        return test::complaint<InputError>([&] { validate_slots(setup); });
    };
    EXPECT_THAT(refusal(setup_of("contiguous", 256, 0, 0, 320)),
                AllOf(HasSubstr("256 routed + 0 redundant + 0 shared"), HasSubstr("320 ranks (0.8 per rank)"),
                      HasSubstr("workload.experts.redundant=64 or workload.ep=256")));
    EXPECT_THAT(refusal(setup_of("contiguous", 256, 40, 0, 32)),
                AllOf(HasSubstr("redundant=32 or"), HasSubstr("redundant=64 or"), HasSubstr("workload.ep=37")));
    EXPECT_EQ(refusal(setup_of("contiguous", 256, 32, 32, 320)), "");
}

TEST(Placement, ScenarioSectionAndModelMakeASetup) {
    scenario::ExpertsSpec spec;
    spec.set_placement("contiguous");
    spec.set_redundant(32);
    spec.set_shared("dedicated");
    spec.set_shared_copies(32);
    auto const r1 = read_model_config(test::shipped_model("deepseek-r1.json"));
    PlacementSetup const setup = make_placement_setup(spec, r1, 320, 58, 16);
    EXPECT_EQ(setup.slots(), 320U);
    EXPECT_EQ(setup.slots_per_rank(), 1U);
    EXPECT_EQ(setup.n_group, 8U);
    auto const qwen = read_model_config(test::shipped_model("qwen3-235b-a22b.json"));
    EXPECT_THAT(test::complaint<InputError>([&] { make_placement_setup(spec, qwen, 160, 94, 16); }),
                HasSubstr("has no shared expert"));
    spec.set_shared("local");
    EXPECT_EQ(make_placement_setup(spec, qwen, 160, 94, 16).shared_copies, 0U);
}

TEST(Placement, ReadsAPhysicalToLogicalMap) {
    test::TempFile const file("map.json", R"({"phy2log": [[3, 2, 1, 0, 0, 1], [0, 1, 2, 3, 3, 3]]})");
    PlacementSetup setup = setup_of("file", 4, 2, 0, 3);
    setup.file = file.path();
    Placement const placement = make_placement(setup, FixedLoads({Loads(4, 1)}));
    EXPECT_EQ(placement.layer(0).slot_expert, (std::vector<std::int32_t>{3, 2, 1, 0, 0, 1}));
    EXPECT_EQ(placement.distinct_layers(), 2U);
    // Rank 2 of layer 1 holds expert 3 twice.
    ASSERT_EQ(placement.warnings().size(), 1U);
    EXPECT_THAT(placement.warnings()[0],
                AllOf(HasSubstr("1 expert slots"), HasSubstr("MoE layer 1 expert 3 on rank 2")));
}

TEST(Placement, FileMayPlaceSharedCopiesItself) {
    test::TempFile const file("map.json", R"({"phy2log": [[-1, 0, 1, 2, 3, -1]]})");
    PlacementSetup setup = setup_of("file", 4, 0, 2, 3);
    setup.file = file.path();
    Placement const placement = make_placement(setup, FixedLoads({Loads(4, 1)}));
    EXPECT_EQ(placement.layer(1).shared, (std::vector<Replica>{{0, 0}, {5, 2}}));
}

TEST(Placement, FileErrorsNameLayerAndSlot) {
    auto const refusal = [](char const* text) {
        test::TempFile const file("map.json", text);
        PlacementSetup setup = setup_of("file", 4, 2, 0, 3);
        setup.file = file.path();
        return test::complaint<InputError>([&] { make_placement(setup, FixedLoads({Loads(4, 1)})); });
    };
    EXPECT_THAT(refusal(R"({"phy2log": [[0, 1, 2, 3, 0, 1], [0, 1, 2, 3, 0, 4]]})"),
                AllOf(HasSubstr("phy2log[1] slot 5 is 4"), HasSubstr("0 to 3")));
    EXPECT_THAT(refusal(R"({"phy2log": [[0, 1, 2, 2, 0, 1]]})"), HasSubstr("phy2log[0] has no slot for expert 3"));
    EXPECT_THAT(refusal(R"({"phy2log": [[0, 1, 2, 3]]})"),
                AllOf(HasSubstr("has 4 slots"), HasSubstr("set workload.experts.redundant=0")));
    EXPECT_THAT(refusal(R"({"phy2log": [[0, 1, 2, 3, 0, -1]]})"), HasSubstr("slot 5 is -1"));
    EXPECT_THAT(refusal(R"({"map": []})"), HasSubstr("\"phy2log\" is missing"));
    EXPECT_THAT(refusal(R"({"phy2log": []})"), HasSubstr("phy2log has 0 lists"));
}

}  // namespace
}  // namespace orrery
