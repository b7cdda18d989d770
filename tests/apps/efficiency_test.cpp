// SPDX-License-Identifier: Apache-2.0
// What a run says about its processes: where their time went, and how many would have been as fast.
#include "apps/run/efficiency.hpp"

#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-more-matchers.h>

namespace orrery::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Eight equal ranks on two processes with four each; the switch, LP 8, is on the second.
struct Halves {
    Halves() : job(make_job(directory.scenario)) {
        EXPECT_EQ(job.lp_count(), 9U);
        partition.owner = {0, 0, 0, 0, 1, 1, 1, 1, 1};
    }
    std::string advice(double first_busy, double second_busy, double waiting) const {
        std::vector<ProcessStatus> const all = {{.busy_s = first_busy, .sync_s = waiting},
                                                {.busy_s = second_busy, .sync_s = waiting}};
        return process_advice(job, partition, all);
    }

    TinyDirectory directory;
    Job job;
    Partition partition;
};

TEST(Efficiency, TwoBusyProcessesThatHardlyWaitAreBothOfUse) {
    EXPECT_THAT(Halves().advice(4, 4, 0.1), StartsWith("all 2 processes are put to use; "));
}

TEST(Efficiency, OneProcessIsAsFastWhereExchangesCostMoreThanTheyWin) {
    // One would be busy for 2 s; the busiest of the two needs 1 s and waits 1.5 s.
    EXPECT_THAT(Halves().advice(1, 1, 1.5),
                StartsWith("1 process would be as fast (2 s busy and waiting against 2.5 s)"));
}

TEST(Efficiency, OneProcessIsAsFastWhereOneHasAllTheWork) {
    EXPECT_THAT(Halves().advice(0.01, 4, 0), StartsWith("1 process would be as fast (4.01 s"));
}

TEST(Efficiency, StatusesTravelAsWords) {
    ProcessStatus const a{
        .events = 1, .pending = 2, .rows = 3, .memory_bytes = 4, .busy_s = 5.5, .sync_s = 6, .write_s = 7};
    auto words = a.words();
    for (auto const word : ProcessStatus{.events = 9}.words()) words.push_back(word);
    auto const all = ProcessStatus::from_words(words);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].words(), a.words());
    EXPECT_EQ(all[1].events, 9);
    EXPECT_DOUBLE_EQ(busy_imbalance(all), 2);  // 5.5 s and nothing
    EXPECT_DOUBLE_EQ(sync_share(all), 6 / 18.5);
    EXPECT_EQ(total_rows(all), 3);
}

TEST(Efficiency, ARunOnTwoProcessesSaysWhatEachDid) {
    TinyDirectory const directory;
    auto const finished = orrery({"run", "tiny.yaml", "--out", "o"}, directory.path(), {ORRERY_MPIEXEC, "-n", "2"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    auto const summary = summary_of(directory.path() / "o");
    auto const& parallel = summary["parallel"];
    ASSERT_EQ(parallel["processes"].size(), 2U);
    EXPECT_EQ(
        parallel["processes"][0]["events"].get<std::int64_t>() + parallel["processes"][1]["events"].get<std::int64_t>(),
        summary["events"].get<std::int64_t>());
    for (auto const* time : {"busy_s", "waiting_s", "writing_s"})
        EXPECT_GE(parallel["processes"][1][time].get<double>(), 0) << time;
    EXPECT_THAT(parallel["lookahead_reason"].get<std::string>(), ContainsRegex("us .*(launch|finish)"));
    EXPECT_GE(parallel["limiting"].size(), 1U);
    EXPECT_THAT(parallel["advice"].get<std::string>(), ContainsRegex("(would be as fast|are put to use)"));
    EXPECT_THAT(finished.out, HasSubstr("Processes: busy "));
    EXPECT_THAT(finished.out, ContainsRegex("Lookahead .*events per window"));
    auto const check = orrery({"check", "tiny.yaml", "--processes", "2"}, directory.path());
    EXPECT_THAT(check.out, ContainsRegex("advice: .*(are useful|is of no use)"));
}

}  // namespace
}  // namespace orrery::testing
