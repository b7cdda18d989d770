// SPDX-License-Identifier: Apache-2.0
// A rank's two streams against a domain that answers after a fixed time: who waits for whom, to the picosecond.
#include "tests/workloads/program_testing.hpp"

#include <gtest/gtest.h>

namespace orrery::testing {
namespace {

constexpr FakeDomain::Answer quick{.dispatch = 60_us, .combine = 20_us, .latest_peer = {}, .messages = 5, .active = 2};

StepPlan one_layer(std::uint32_t microbatches, StepPlan::SharedExpert shared = StepPlan::SharedExpert::none) {
    return StepPlan({{0, true, 100_us}}, microbatches, shared, costs());
}

void expect_span(OperationRow const& row, Time start, Time end) {
    EXPECT_EQ(row.start, start) << name_of(row.kind) << " starts at " << to_string(row.start);
    EXPECT_EQ(row.end, end) << name_of(row.kind) << " ends at " << to_string(row.end);
}

TEST(MoeRank, OneMicrobatchIsAChain) {
    auto const plan = one_layer(1);
    OneRank const run(plan, {quick});
    expect_span(run.row(OpKind::attention), 0_us, 100_us);
    expect_span(run.row(OpKind::gate), 100_us, 110_us);
    expect_span(run.row(OpKind::dispatch), 110_us, 175_us);  // launch 5, answer 60
    expect_span(run.row(OpKind::experts), 175_us, 200_us);   // 5 messages, 2 experts
    expect_span(run.row(OpKind::combine), 200_us, 223_us);
    EXPECT_TRUE(run.rank->finished());
    EXPECT_EQ(run.rank->finished_at(), 223_us);
    // Nothing ran beside them.
    EXPECT_EQ(run.row(OpKind::dispatch).exposed, 65_us);
    EXPECT_EQ(run.row(OpKind::combine).exposed, 23_us);
    EXPECT_EQ(run.row(OpKind::dispatch).wait, 0_us);
}

TEST(MoeRank, PostsCarryTheirKeyAndStart) {
    auto const plan = one_layer(2);
    OneRank const run(plan, {quick});
    auto const& posted = run.domains[0]->posted;
    ASSERT_EQ(posted.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(posted[i].key.group, 2U);
        EXPECT_EQ(posted[i].key.layer, 0U);
        EXPECT_EQ(posted[i].key.microbatch, i % 2);
        EXPECT_EQ(posted[i].key.kind, i < 2 ? OpKind::dispatch : OpKind::combine);
        EXPECT_EQ(posted[i].when - posted[i].started, i < 2 ? 5_us : 3_us);
    }
}

TEST(MoeRank, ASharedExpertHidesTheDispatch) {
    auto const plan = one_layer(1, StepPlan::SharedExpert::local);
    OneRank const run(plan, {quick});
    expect_span(run.row(OpKind::shared_expert), 110_us, 150_us);
    expect_span(run.row(OpKind::dispatch), 110_us, 175_us);
    expect_span(run.row(OpKind::experts), 175_us, 200_us);
    EXPECT_EQ(run.row(OpKind::dispatch).exposed, 25_us);
    EXPECT_EQ(run.row(OpKind::shared_expert).exposed, 0_us);
}

TEST(MoeRank, TwoMicrobatchesOverlap) {
    auto const plan = one_layer(2);
    OneRank const run(plan, {quick});
    // Compute:        A0 0-100  G0 -110  A1 -210  G1 -220        E0 220-245  E1 285-310
    // Communication:                     D0 110-175     D1 220-285     C0 285-308  C1 310-333
    expect_span(run.row(OpKind::attention, 1), 110_us, 210_us);
    expect_span(run.row(OpKind::gate, 1), 210_us, 220_us);
    expect_span(run.row(OpKind::dispatch, 0), 110_us, 175_us);
    expect_span(run.row(OpKind::dispatch, 1), 220_us, 285_us);
    expect_span(run.row(OpKind::experts, 0), 220_us, 245_us);
    expect_span(run.row(OpKind::experts, 1), 285_us, 310_us);
    expect_span(run.row(OpKind::combine, 0), 285_us, 308_us);
    expect_span(run.row(OpKind::combine, 1), 310_us, 333_us);
    EXPECT_EQ(run.row(OpKind::dispatch, 0).exposed, 0_us);
    EXPECT_EQ(run.row(OpKind::dispatch, 1).exposed, 40_us);  // E0 covers 25 of 65
    EXPECT_EQ(run.row(OpKind::combine, 0).exposed, 0_us);
    EXPECT_EQ(run.row(OpKind::combine, 1).exposed, 23_us);
    EXPECT_EQ(run.rank->finished_at(), 333_us);
}

TEST(MoeRank, ALayerStartsWhenTheLastOneHasCombined) {
    StepPlan const plan({{4, true, 100_us}, {7, true, 100_us}}, 2, StepPlan::SharedExpert::none, costs());
    OneRank const run(plan, {quick});
    EXPECT_EQ(run.row(OpKind::attention, 0, 7).start, run.row(OpKind::experts, 1, 4).end);  // C0 ended at 308 us
    EXPECT_EQ(run.row(OpKind::combine, 0, 4).end, 308_us);
    EXPECT_EQ(run.row(OpKind::attention, 0, 7).start, 310_us);
    EXPECT_EQ(run.row(OpKind::attention, 1, 7).start, 420_us);  // after A0 and G0, long after C1
    EXPECT_EQ(run.row(OpKind::combine, 1, 4).exposed, 0_us);    // the next layer's attention covers it
    EXPECT_TRUE(run.rank->finished());
    ASSERT_EQ(run.sink.rows.size(), 2U * 10U);
    for (std::uint32_t i = 0; i < 20; ++i) {
        EXPECT_EQ(run.sink.rows[i].sequence, i);
        EXPECT_EQ(run.sink.rows[i].rank, 17U);
        if (i > 0) {
            EXPECT_LE(run.sink.rows[i - 1].end, run.sink.rows[i].end);
        }
    }
}

TEST(MoeRank, DenseLayersCommunicateNothing) {
    StepPlan const plan({{0, false, 100_us}, {1, false, 100_us}, {2, true, 100_us}, {3, false, 50_us}}, 1,
                        StepPlan::SharedExpert::none, costs());
    OneRank const run(plan, {quick});
    expect_span(run.row(OpKind::dense_ffn, 0, 0), 100_us, 170_us);
    expect_span(run.row(OpKind::attention, 0, 1), 170_us, 270_us);
    expect_span(run.row(OpKind::attention, 0, 2), 340_us, 440_us);
    expect_span(run.row(OpKind::combine, 0, 2), 540_us, 563_us);
    expect_span(run.row(OpKind::dense_ffn, 0, 3), 613_us, 683_us);  // the last layer waits for the combine before it
    EXPECT_EQ(run.domains[0]->posted.size(), 2U);
    EXPECT_EQ(run.domains[0]->posted[0].key.layer, 2U);
    EXPECT_EQ(run.rank->finished_at(), 683_us);
}

TEST(MoeRank, WaitIsForPeersThatHadNotStarted) {
    auto answer = quick;
    answer.latest_peer = 30_us;
    auto const plan = one_layer(1);
    OneRank const late(plan, {answer});
    EXPECT_EQ(late.row(OpKind::dispatch).wait, 30_us);
    EXPECT_EQ(late.row(OpKind::combine).wait, 23_us);  // never more than the operation lasted
    answer.latest_peer = Time{} - 30_us;
    OneRank const early(plan, {answer});
    EXPECT_EQ(early.row(OpKind::dispatch).wait, 0_us);
    EXPECT_EQ(early.row(OpKind::attention).wait, 0_us);
}

TEST(MoeRank, AnExchangeOverTwoDomainsEndsWithTheLaterOne) {
    auto slow = quick;
    slow.dispatch = 90_us;
    slow.latest_peer = 12_us;
    auto first = quick;
    first.latest_peer = 7_us;
    auto const plan = one_layer(1);
    for (auto const& order : {std::vector{first, slow}, std::vector{slow, first}}) {
        OneRank const run(plan, order);
        expect_span(run.row(OpKind::dispatch), 110_us, 205_us);
        EXPECT_EQ(run.row(OpKind::dispatch).wait, 12_us);
        expect_span(run.row(OpKind::experts), 205_us, 230_us);
        EXPECT_EQ(run.domains[0]->posted.size(), 2U);
        EXPECT_EQ(run.domains[1]->posted.size(), 2U);
    }
}

TEST(MoeRank, SaysWhatItWaitsFor) {
    auto answer = quick;
    answer.combine = Time::infinity();
    StepPlan const plan({{5, true, 100_us}, {6, true, 100_us}}, 1, StepPlan::SharedExpert::none, costs());
    OneRank const run(plan, {answer});
    EXPECT_FALSE(run.rank->finished());
    EXPECT_EQ(run.rank->waiting_for(), "rank 17 is in combine of layer 5, micro-batch 0 since 200 us");
    auto const one = one_layer(1);
    EXPECT_EQ(OneRank(one, {quick}).rank->waiting_for(), "rank 17 is done");
}

TEST(MoeRank, TheDigestTellsRunsApart) {
    auto const plan = one_layer(2);
    auto const same = [](DigestChain const& a, DigestChain const& b) {
        return a.low() == b.low() && a.high() == b.high();
    };
    auto const usual = OneRank(plan, {quick}).rank->digest();
    EXPECT_TRUE(same(usual, OneRank(plan, {quick}).rank->digest()));
    auto other = quick;
    other.combine += 1_ps;
    EXPECT_FALSE(same(usual, OneRank(plan, {other}).rank->digest()));
    other = quick;
    other.latest_peer = 1_ps;
    EXPECT_FALSE(same(usual, OneRank(plan, {other}).rank->digest()));
}

}  // namespace
}  // namespace orrery::testing
