// SPDX-License-Identifier: Apache-2.0
// The traffic of a MoE step: combine is the transpose of dispatch, a matrix lives as long as it is needed, loads add
// up.
#include "tests/workloads/program_testing.hpp"
#include "workloads/moe/matrix_builder.hpp"
#include "workloads/programs/moe_traffic.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace orrery::testing {
namespace {

constexpr std::uint32_t ep = 8, tokens = 16, top_k = 4, experts = 32;

struct Bench {
    explicit Bench(char const* source, std::uint32_t groups = 2) {
        RoutingSetup setup;
        setup.source = source;
        setup.zipf_s = 1.2;
        setup.experts = experts;
        setup.top_k = top_k;
        setup.moe_layers = 3;
        routing = make_routing_source(setup);
        PlacementSetup place;
        place.kind = "contiguous";
        place.experts = experts;
        place.ep = ep;
        place.moe_layers = 3;
        placement = std::make_unique<Placement>(make_placement(place, *routing));
        builder = std::make_unique<MatrixBuilder>(*routing, *placement, MatrixShape{tokens, 2, top_k});
        ExchangePlan dispatch, combine;
        dispatch.message_bytes = 100;
        combine.message_bytes = 200;
        traffic =
            std::make_unique<MoeTraffic>(MoeTraffic::Settings{.ep = ep,
                                                              .groups = groups,
                                                              .first_rank = RankId{40},
                                                              .dispatch = dispatch,
                                                              .combine = combine,
                                                              .moe_layers = {3, 4, 9},
                                                              .load_counter = std::vector<std::uint32_t>(groups, 0)},
                                         *builder, *placement);
    }
    std::unique_ptr<RoutingSource> routing;
    std::unique_ptr<Placement> placement;
    std::unique_ptr<MatrixBuilder> builder;
    std::unique_ptr<MoeTraffic> traffic;
};

ExchangeKey key_of(OpKind kind, std::uint16_t layer = 4, std::uint8_t microbatch = 0, std::uint32_t group = 1) {
    return {group, layer, microbatch, kind};
}

TEST(MoeTraffic, KeysSurviveAnEventWord) {
    ExchangeKey const key{0xfedcba98U, 0xabcd, 7, OpKind::combine};
    EXPECT_EQ(ExchangeKey::unpack(key.pack()), key);
}

TEST(MoeTraffic, GroupsSitOnConsecutiveRanks) {
    Bench const bench("uniform");
    EXPECT_EQ(bench.traffic->first_rank(0), RankId{40});
    EXPECT_EQ(bench.traffic->first_rank(1), RankId{48});
    EXPECT_EQ(bench.traffic->members(1), ep);
    EXPECT_EQ(bench.traffic->plan(OpKind::dispatch).message_bytes, 100);
    EXPECT_EQ(bench.traffic->plan(OpKind::combine).message_bytes, 200);
}

TEST(MoeTraffic, CombineIsTheTransposeOfDispatch) {
    Bench const bench("zipf");
    auto& traffic = *bench.traffic;
    auto const there = key_of(OpKind::dispatch), back = key_of(OpKind::combine);
    traffic.open(there, 0);
    traffic.open(back, 0);
    std::vector<ExchangeTraffic::Share> sent, received;
    for (std::uint32_t m = 0; m < ep; ++m) {
        std::uint32_t out = 0, in = 0;
        for (std::uint32_t peer = 0; peer < ep; ++peer) {
            EXPECT_EQ(traffic.messages(there, m, peer), traffic.messages(back, peer, m));
            out += traffic.messages(there, m, peer);
            in += traffic.messages(there, peer, m);
        }
        EXPECT_EQ(out, tokens * top_k);
        EXPECT_EQ(traffic.received(there, m).messages, in);
        EXPECT_EQ(traffic.received(back, m).messages, out);
        EXPECT_GT(traffic.received(there, m).active_experts, 0U);
        EXPECT_LE(traffic.received(there, m).active_experts, experts / ep);
        traffic.sent_by(there, m, sent);
        traffic.received_by(back, m, received);
        ASSERT_EQ(sent.size(), received.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(sent[i].member, received[i].member);
            EXPECT_EQ(sent[i].messages, received[i].messages);
            EXPECT_GT(sent[i].messages, 0U);
            EXPECT_EQ(sent[i].messages, traffic.messages(there, m, sent[i].member));
            if (i > 0) {
                EXPECT_LT(sent[i - 1].member, sent[i].member);
            }
        }
    }
}

TEST(MoeTraffic, AMatrixLivesUntilTheLastPartHasCombined) {
    Bench const bench("uniform");
    auto& traffic = *bench.traffic;
    auto const there = key_of(OpKind::dispatch), back = key_of(OpKind::combine);
    for (auto const& key : {there, back})
        for (auto const carrier : {0U, 1U}) traffic.open(key, carrier);
    traffic.close(there, 0);
    traffic.close(there, 1);
    traffic.close(back, 0);
    EXPECT_NO_THROW(traffic.received(back, 0));
    traffic.close(back, 1);
    EXPECT_THROW(traffic.received(back, 0), InternalError);
    EXPECT_THROW(traffic.open(key_of(OpKind::dispatch, 5), 0), InternalError);  // no MoE layer
}

TEST(MoeTraffic, LoadsAreCountedOncePerMessage) {
    Bench const bench("zipf");
    auto& traffic = *bench.traffic;
    for (std::uint32_t group = 0; group < 2; ++group)
        for (std::uint8_t const microbatch : {std::uint8_t{0}, std::uint8_t{1}})
            for (auto const kind : {OpKind::dispatch, OpKind::combine})
                for (auto const carrier : {1U, 0U}) traffic.open(key_of(kind, 9, microbatch, group), carrier);
    Operations sink;
    traffic.emit_expert_loads(sink);
    std::int64_t sum[2] = {}, per_rank[2][ep] = {};
    for (auto const& row : sink.loads) {
        ASSERT_LT(row.group, 2U);
        ASSERT_EQ(row.layer, 9U);
        ASSERT_EQ(row.rank / ep, 5 + row.group);
        EXPECT_EQ(row.expert, static_cast<std::int32_t>((row.rank % ep) * (experts / ep) + row.slot));  // contiguous
        sum[row.group] += row.tokens;
        per_rank[row.group][row.rank % ep] += row.tokens;
    }
    for (std::uint32_t group = 0; group < 2; ++group) {
        EXPECT_EQ(sum[group], 2 * ep * tokens * top_k);
        for (std::uint32_t m = 0; m < ep; ++m)
            EXPECT_EQ(per_rank[group][m], traffic.received(key_of(OpKind::dispatch, 9, 0, group), m).messages +
                                              traffic.received(key_of(OpKind::dispatch, 9, 1, group), m).messages);
    }
    auto const imbalance = traffic.imbalance();
    EXPECT_EQ(imbalance.samples, 2);  // one layer of each group
    EXPECT_GT(imbalance.ranks_ppm, imbalance.samples * 1'000'000);
    EXPECT_GE(imbalance.experts_ppm, imbalance.ranks_ppm);  // a rank averages over its experts
}

}  // namespace
}  // namespace orrery::testing
