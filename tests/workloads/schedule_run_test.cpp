// SPDX-License-Identifier: Apache-2.0
// Messages and collectives inside the domains of a network: what they take, and how often.
#include "tests/workloads/schedule_testing.hpp"
#include "workloads/collectives/algorithm.hpp"

#include <gtest/gtest.h>

namespace orrery::testing {
namespace {

using namespace literals;

// Every algorithm on one switch takes its closed form, on both models where it says so.
TEST(ScheduleRun, EveryAlgorithmTakesItsClosedForm) {
    constexpr std::int64_t bytes = 7 * 64 * 5 * 1000;  // divides by 2, 4, 5, 7 and 8
    for (auto const* algorithm : collective_algorithms())
        for (auto const op : algorithm->ops)
            for (std::uint32_t const members : {2U, 5U, 8U}) {
                CollectiveShape const shape{.op = op, .members = members, .bytes = bytes};
                if (op == CollectiveOp::all_to_all_v || !algorithm->refuses(shape).empty()) continue;
                auto const form = algorithm->plan(shape)->closed_form();
                auto const expected = form.time(1_us, 400_Gbps);
                OneSchedule const run(single_switch(members),
                                      one_collective(members, {.op = op, .bytes = bytes, .algorithm = algorithm->name}),
                                      Engine::analytic);
                auto const text = fmt::format("{} of {}: {}", name_of(op), members, algorithm->name);
                EXPECT_EQ(std::count(run.finished.begin(), run.finished.end(), true), members) << text;
                EXPECT_EQ(run.transfers.injected_bytes, run.transfers.delivered_bytes) << text;
                if (form.holds == ClosedForm::Holds::exactly)
                    EXPECT_EQ(run.last.ps(), expected.ps()) << text;
                else
                    EXPECT_LE(run.last.ps(), expected.ps()) << text;
            }
}

TEST(ScheduleRun, MessagesInBothDirectionsDoNotShare) {
    StoredSchedule schedule(2);
    for (std::uint32_t rank : {0U, 1U}) {
        ProgramBuilder builder;
        builder.add({.kind = TaskKind::send, .peer = 1 - rank, .bytes = 1'000'000});
        builder.add({.kind = TaskKind::receive, .peer = 1 - rank, .bytes = 1'000'000});
        schedule.programs[rank] = builder.build();
    }
    EXPECT_EQ(OneSchedule(single_switch(2), std::move(schedule)).last, 21_us);
}

// A ring of many members is two events per rank and one batch per step, not events per message.
TEST(ScheduleRun, ARingOfManyMembersIsCheap) {
    constexpr std::uint32_t members = 256;
    OneSchedule const run(
        single_switch(members),
        one_collective(members, {.op = CollectiveOp::all_reduce, .bytes = 16 << 20, .algorithm = "ring"}));
    EXPECT_EQ(run.transfers.flows, 2LL * 255 * 256);
    auto const step = transfer_time(65536, 400_Gbps) + 1_us;
    EXPECT_EQ(run.last, step * (2 * 255));
}

// Packets: a step of a ring is one message per port, cut through the switch, and nothing is late: the first packet is
// sent on while the others follow, so a step takes the bytes, the latency and one packet more.
TEST(ScheduleRun, StepsOfPacketsFollowEachOtherWithoutAGap) {
    constexpr std::int64_t block = 65'536;
    OneSchedule const run(single_switch(8),
                          one_collective(8, {.op = CollectiveOp::all_reduce, .bytes = 8 * block, .algorithm = "ring"}),
                          Engine::packet);
    auto const least = transfer_time(block, 400_Gbps) + 1_us;
    EXPECT_GE(run.last, least * 14);
    EXPECT_LE(run.last, (least + transfer_time(4096, 400_Gbps)) * 14);
}

// Two super-nodes and the plane between them carry one collective together.
TEST(ScheduleRun, SeveralDomainsMakeTheSameSteps) {
    scenario::CloudMatrix384 small;
    small.set_supernodes(2);
    small.set_nodes(1);
    auto const spec = cloudmatrix(small);
    for (auto const engine : {Engine::flow, Engine::analytic, Engine::packet}) {
        OneSchedule const run(
            spec, one_collective(32, {.op = CollectiveOp::all_reduce, .bytes = 3'200'000, .algorithm = "ring"}),
            engine);
        EXPECT_EQ(std::count(run.finished.begin(), run.finished.end(), true), 32);
        EXPECT_EQ(run.transfers.delivered_bytes, 62 * 3'200'000);
        // Both super-nodes and the plane between them have their row, with the same end.
        ASSERT_EQ(run.rows.collectives.size(), 3U);
        for (auto const& row : run.rows.collectives) EXPECT_EQ(row.last_end, run.last);
    }
}

}  // namespace
}  // namespace orrery::testing
