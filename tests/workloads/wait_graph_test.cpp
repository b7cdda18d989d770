// SPDX-License-Identifier: Apache-2.0
// Circles of waiting over dependencies, messages and collectives.
#include "workloads/schedule/wait_graph.hpp"

#include "workloads/schedule/check_schedule.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

ScheduleTask message(TaskKind kind, std::uint32_t peer) {
    return {.kind = kind, .peer = peer, .bytes = 8};
}
ScheduleTask join(std::uint32_t collective) {
    return {.kind = TaskKind::collective, .peer = collective};
}
std::string only_problem(Schedule const& schedule) {
    auto const problems = problems_of(schedule);
    return problems.size() == 1 ? problems.front() : fmt::format("{} problems", problems.size());
}

TEST(WaitGraph, FindsTheShortestOfTwoCircles) {
    WaitGraph graph(7);
    for (std::uint32_t node = 0; node < 4; ++node) graph.wait((node + 1) % 4, node);  // 0 1 2 3
    graph.wait(5, 4);
    graph.wait(4, 5);
    graph.wait(6, 4);  // behind a circle, on none
    graph.close();
    EXPECT_EQ(shortest_circle(graph), (std::vector<std::uint32_t>{4, 5}));
}

TEST(WaitGraph, AChainHasNoCircle) {
    WaitGraph graph(100);
    for (std::uint32_t node = 1; node < 100; ++node) graph.wait(node, node - 1);
    graph.close();
    EXPECT_TRUE(shortest_circle(graph).empty());
}

TEST(WaitGraph, ASendThatWaitsForWhatItMakesPossibleIsACircleOverTwoRanks) {
    StoredSchedule schedule(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProgramBuilder builder;
        auto const receive = builder.add(message(TaskKind::receive, 1 - rank));
        builder.require(builder.add(message(TaskKind::send, 1 - rank)), receive);
        schedule.programs[rank] = builder.build();
    }
    EXPECT_EQ(only_problem(schedule),
              "tasks wait for each other in a circle of 4: task 0 of rank 0 -> task 1 of rank 0 -> task 0 of rank 1 -> "
              "task 1 of rank 1 -> task 0 of rank 0 (none of them can start) remove one dependency");
}

TEST(WaitGraph, ASendThatWaitsForTheStartOfAReceiveIsFine) {
    StoredSchedule schedule(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProgramBuilder builder;
        auto const receive = builder.add(message(TaskKind::receive, 1 - rank));
        builder.require(builder.add(message(TaskKind::send, 1 - rank)), receive, After::start);
        schedule.programs[rank] = builder.build();
    }
    EXPECT_TRUE(problems_of(schedule).empty());
}

TEST(WaitGraph, CollectivesInDifferentOrdersAreACircle) {
    StoredSchedule schedule(2);
    schedule.groups = {{0, 1}};
    schedule.collectives = {{.op = CollectiveOp::barrier}, {.op = CollectiveOp::barrier}};
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProgramBuilder builder;
        auto const first = builder.add(join(rank));
        builder.require(builder.add(join(1 - rank)), first);
        schedule.programs[rank] = builder.build();
    }
    EXPECT_NE(only_problem(schedule).find("a circle of 4"), std::string::npos) << only_problem(schedule);
}

}  // namespace
}  // namespace orrery
