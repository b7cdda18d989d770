// SPDX-License-Identifier: Apache-2.0
// Push exchanges on one switch against closed forms: wire, sender's loop, flags, and who waits for whom.
#include "tests/netmodels/exchange_testing.hpp"

namespace orrery::testing {
namespace {

// Ports of 400 Gb/s; 1 us from host to host.
constexpr Time way = 1_us;

TEST(ExchangePush, WithoutALoopTheWireIsTheTime) {
    OneExchange const run({.fabric = single_switch(2), .plan = push_plan(), .matrix = {{0, 7}, {3, 0}}});
    // Each member is done when both directions are: launch, 7 messages (the longer way), latency, finish. Member 0 need
    // only wait for its own sends to leave and for 3 messages to arrive.
    expect_time(run.done(1), 10_us + 7_us + way + 8_us);
    expect_time(run.done(0), 10_us + std::max(7_us, 3_us + way) + 8_us);
    EXPECT_EQ(run.posters[0]->messages, 3U);
    EXPECT_EQ(run.posters[1]->messages, 7U);
}

TEST(ExchangePush, IncastSharesTheReceiversPort) {
    auto matrix = nothing(5);
    for (std::uint32_t source = 1; source < 5; ++source) matrix[source][0] = 6;
    OneExchange const run({.fabric = single_switch(5), .plan = push_plan(), .matrix = matrix});
    expect_time(run.done(0), 10_us + 4 * 6_us + way + 8_us);
    expect_time(run.done(3), 10_us + 4 * 6_us + 8_us);  // its bytes have left; nothing but flags comes
}

TEST(ExchangePush, AllToAllIsBoundByThePorts) {
    for (std::uint32_t const members : {2U, 3U, 8U}) {
        OneExchange const run({.fabric = single_switch(members), .plan = push_plan(), .matrix = everyone(members, 2)});
        for (std::uint32_t m = 0; m < members; ++m)
            expect_time(run.done(m), 10_us + (members - 1) * 2_us + way + 8_us, 20_ps);
    }
}

TEST(ExchangePush, ASlowLoopIsTheTime) {
    auto plan = push_plan();
    plan.per_message = 9_us;
    plan.cores = 2;
    OneExchange const run({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 7}, {0, 0}}});
    // 7 messages on 2 cores are 4 rounds.
    expect_time(run.done(1), 10_us + 4 * 9_us + way + 8_us);
    expect_time(run.done(0), 10_us + 4 * 9_us + 8_us);
}

TEST(ExchangePush, ALoopFasterThanTheWireCostsNothing) {
    auto plan = push_plan();
    plan.per_message = 1'000_ns;
    plan.cores = 2;
    OneExchange const run({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 8}, {0, 0}}});
    expect_time(run.done(1), 10_us + 8_us + way + 8_us);
}

TEST(ExchangePush, APreparedLoopComesBeforeTheWire) {
    auto plan = push_plan();
    plan.loop = ExchangeLoop::prepared;
    plan.per_message = 1'000_ns;
    plan.cores = 2;
    OneExchange const run({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 8}, {0, 0}}});
    expect_time(run.done(1), 10_us + 4_us + 8_us + way + 8_us);
}

TEST(ExchangePush, OwnMessagesCostTheLoopAndNoWire) {
    auto plan = push_plan();
    plan.per_message = 1'000_ns;
    OneExchange const run({.fabric = single_switch(2), .plan = plan, .matrix = {{30, 0}, {0, 0}}});
    EXPECT_EQ(run.done(0), 10_us + 30_us + 8_us);
    EXPECT_EQ(run.done(1), 10_us + 30_us + way + 8_us);  // the flag comes after the loop
    EXPECT_EQ(run.flows, 0);
    EXPECT_EQ(run.injected, 0);
}

TEST(ExchangePush, FlagsLeaveInRoundsOfCores) {
    auto plan = push_plan();
    plan.per_peer = 3_us;
    for (std::uint32_t const cores : {1U, 2U, 4U, 48U}) {
        plan.cores = cores;
        auto const rounds = cores == 1 ? 5 : cores == 2 ? 3 : cores == 4 ? 2 : 1;
        OneExchange const run({.fabric = single_switch(5), .plan = plan, .matrix = nothing(5)});
        // Distances 1 to 4: the farthest peer's flag is in round 4 / cores + 1.
        for (std::uint32_t m = 0; m < 5; ++m)
            EXPECT_EQ(run.done(m), 10_us + rounds * 3_us + way + 8_us) << cores << " cores";
    }
}

TEST(ExchangePush, AFlagStaysBehindItsData) {
    auto plan = push_plan();
    plan.per_peer = 3_us;
    OneExchange const fast({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 1}, {0, 0}}});
    expect_time(fast.done(1), 10_us + 2 * 3_us + way + 8_us);  // distance 1 of 1 core: second round, data long there
    OneExchange const slow({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 20}, {0, 0}}});
    expect_time(slow.done(1), 10_us + 20_us + way + 8_us);
}

TEST(ExchangePush, EveryoneWaitsForTheLastToStart) {
    OneExchange const run({.fabric = single_switch(4),
                           .plan = push_plan(),
                           .matrix = everyone(4, 1),
                           .starts = {0_us, 100_us, 0_us, 0_us}});
    for (std::uint32_t const m : {0U, 2U, 3U}) {
        EXPECT_GE(run.done(m), 110_us + way + 8_us);
        EXPECT_EQ(run.posters[m]->last_peer_start, 100_us);
    }
    expect_time(run.done(1), 110_us + 3_us + 8_us, 20_ps);  // the others' bytes have been there for long
    ASSERT_EQ(run.rows.collectives.size(), 1U);
    auto const& row = run.rows.collectives.front();
    EXPECT_EQ(row.first_start, 0_us);
    EXPECT_EQ(row.last_start, 100_us);
    EXPECT_EQ(row.last_end, std::max({run.done(0), run.done(1), run.done(2), run.done(3)}));
    EXPECT_EQ(row.layer, 3U);
    EXPECT_EQ(row.kind, OpKind::dispatch);
}

TEST(ExchangePush, EqualSharesIgnoreHowMuchAPeerGets) {
    auto plan = push_plan();
    Matrix matrix = {{0, 2, 6}, {0, 0, 0}, {0, 0, 0}};
    // In proportion both end together after 8 us; with equal shares the small one ends after 2 x 2 us.
    OneExchange const proportional({.fabric = single_switch(3), .plan = plan, .matrix = matrix});
    expect_time(proportional.done(1), 10_us + 8_us + way + 8_us);
    plan.shares = ExchangeShares::equal;
    OneExchange const equal({.fabric = single_switch(3), .plan = plan, .matrix = matrix});
    expect_time(equal.done(1), 10_us + 4_us + way + 8_us);
    expect_time(equal.done(2), 10_us + 8_us + way + 8_us);
}

TEST(ExchangePush, TheBoundIsAtMostTheTime) {
    for (auto const& matrix : {everyone(6, 3), Matrix{{0, 9, 0}, {1, 0, 0}, {0, 4, 0}}, nothing(4)}) {
        for (auto const per_message : {0_us, 2_us}) {
            auto plan = push_plan();
            plan.per_message = per_message;
            OneExchange const run(
                {.fabric = single_switch(static_cast<std::uint32_t>(matrix.size())), .plan = plan, .matrix = matrix});
            ASSERT_EQ(run.rows.collectives.size(), 1U);
            auto const& row = run.rows.collectives.front();
            EXPECT_LE(row.bound, row.last_end - row.first_start);
            EXPECT_GE(row.bound, plan.launch + plan.finish);
        }
    }
}

TEST(ExchangePush, TheBusiestPortBinds) {
    Matrix const matrix = {{0, 9, 0}, {1, 0, 0}, {0, 4, 0}};
    OneExchange const run({.fabric = single_switch(3), .plan = push_plan(), .matrix = matrix});
    ASSERT_EQ(run.rows.collectives.size(), 1U);
    auto const& row = run.rows.collectives.front();
    EXPECT_EQ(run.fabric().bundle_name(BundleId{row.bound_bundle}), "h1-switch.down");
    EXPECT_EQ(row.bound, 10_us + 13_us + 8_us);
    auto plan = push_plan();
    plan.per_message = 2_us;
    OneExchange const loop({.fabric = single_switch(3), .plan = plan, .matrix = matrix});
    EXPECT_EQ(loop.rows.collectives.front().bound_bundle, 0xffffffffU);
    EXPECT_EQ(loop.rows.collectives.front().bound, 10_us + 18_us + 8_us);
}

}  // namespace
}  // namespace orrery::testing
