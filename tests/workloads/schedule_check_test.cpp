// SPDX-License-Identifier: Apache-2.0
// What makes a schedule impossible, in words.
#include "workloads/schedule/check_schedule.hpp"

#include <gmock/gmock-matchers.h>
#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ScheduleTask compute() {
    return {.kind = TaskKind::compute, .duration = Time::from_ps(1)};
}
ScheduleTask send(std::uint32_t to, std::int64_t bytes, std::uint32_t tag = 0) {
    return {.kind = TaskKind::send, .peer = to, .tag = tag, .bytes = bytes};
}
ScheduleTask receive(std::uint32_t from, std::int64_t bytes, std::uint32_t tag = 0) {
    return {.kind = TaskKind::receive, .peer = from, .tag = tag, .bytes = bytes};
}
ScheduleTask join(std::uint32_t collective) {
    return {.kind = TaskKind::collective, .peer = collective};
}

RankProgram program(std::vector<ScheduleTask> const& tasks,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>> const& requires_ = {}) {
    ProgramBuilder builder;
    for (auto const& task : tasks) builder.add(task);
    for (auto const& [task, on] : requires_) builder.require(task, on);
    return builder.build();
}

TEST(ScheduleCheck, AcceptsWhatCanRun) {
    StoredSchedule schedule(2);
    schedule.programs = {program({compute(), send(1, 5), join(0)}, {{1, 0}, {2, 1}}),
                         program({receive(0, ScheduleTask::unknown_bytes), join(0)})};
    schedule.groups = {{1, 0}};
    schedule.collectives = {{.group = 0, .op = CollectiveOp::barrier}};
    EXPECT_THAT(problems_of(schedule), ElementsAre());
}

TEST(ScheduleCheck, ShowsTheShortestCircle) {
    // 0 <- 1 <- 2 <- 3 <- 0 and 4 <- 5 <- 4.
    StoredSchedule schedule(1);
    schedule.programs = {
        program(std::vector<ScheduleTask>(6, compute()), {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {4, 5}, {5, 4}})};
    EXPECT_THAT(problems_of(schedule),
                ElementsAre(HasSubstr("in a circle of 2: task 4 of rank 0 -> task 5 of rank 0 -> task 4 of rank 0")));
    schedule.programs = {program({compute(), compute()}, {{0, 1}, {1, 1}})};
    EXPECT_THAT(problems_of(schedule), ElementsAre(HasSubstr("in a circle of 1: task 1 of rank 0")));
}

TEST(ScheduleCheck, MeetsEveryMessage) {
    StoredSchedule schedule(2);
    schedule.programs = {program({send(1, 5), send(1, 6), send(1, 7, 1)}), program({receive(0, 5), receive(0, 9)})};
    EXPECT_THAT(
        problems_of(schedule),
        ElementsAre("task 1 of rank 0 sends 6 bytes and task 1 of rank 1 receives 9 (both ends of a message are "
                    "alike) use one length",
                    "task 2 of rank 0 sends to rank 1, tag 1 (1 sends and 0 receives between them) add the "
                    "receive"));
}

TEST(ScheduleCheck, NamesWhatDoesNotExist) {
    StoredSchedule schedule(1);
    schedule.programs = {program({compute(), send(3, 1), join(2)}, {{0, 9}})};
    EXPECT_THAT(problems_of(schedule),
                ElementsAre(HasSubstr("task 0 of rank 0 waits for task 9"), HasSubstr("sends to rank 3"),
                            HasSubstr("joins collective 2 (there are 0")));
}

TEST(ScheduleCheck, EveryMemberJoinsOnce) {
    StoredSchedule schedule(3);
    schedule.groups = {{0, 1}};
    schedule.collectives = {{.group = 0, .op = CollectiveOp::all_reduce, .bytes = 8}};
    schedule.programs = {program({join(0), join(0)}), program({}), program({join(0)})};
    EXPECT_THAT(problems_of(schedule),
                ElementsAre(HasSubstr("task 1 of rank 0 joins collective 0 again"),
                            HasSubstr("rank 1 never joins collective 0"), HasSubstr("rank 2 is no member of group 0")));
}

TEST(ScheduleCheck, SaysNoMoreThanAsked) {
    StoredSchedule schedule(1);
    schedule.programs = {program(std::vector<ScheduleTask>(100, send(7, 1)))};
    EXPECT_EQ(problems_of(schedule, {}, 3).size(), 3U);
}

}  // namespace
}  // namespace orrery
