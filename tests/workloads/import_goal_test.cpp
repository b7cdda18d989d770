// SPDX-License-Identifier: Apache-2.0
// GOAL schedules: what they say, and what is wrong with them by line.
#include "import_testing.hpp"

namespace orrery::test {
namespace {

using Tasks = std::vector<std::string>;

TEST(ImportGoal, OperationsAndDependenciesOfEveryRank) {
    auto const import = import_text("a.goal",
                                    "num_ranks 2 // two\n"
                                    "rank 0 {\n"
                                    "l1: calc 100 cpu 3\n"
                                    "/* not\n"
                                    "this: calc 9 */ l2: send 100000b to 1 tag 7 cpu 0 nic 1\n"
                                    "l2 requires l1\n"
                                    "l3: calc 5\n"
                                    "l3 requires l2\n"
                                    "l4: send 8 b to 1\n"
                                    "l5: calc 6\n"
                                    "l5 requires l4\n"
                                    "}\n"
                                    "rank 1 { a: recv 100000b from 0 tag 7\n"
                                    "b: recv 8b from 0\n"
                                    "b irequires a\n"
                                    "}\n");
    EXPECT_EQ(tasks_of(*import.schedule, 0), (Tasks{"compute 100000ps", "send 100000B to 1 <0", "compute 5000ps <1",
                                                    "send 8B to 1", "compute 6000ps ~3"}));  // l4 is eager
    EXPECT_EQ(tasks_of(*import.schedule, 1), (Tasks{"receive 100000B from 0", "receive 8B from 0 ~0"}));
    EXPECT_EQ(import.schedule->program(0).tasks()[0].stream, 3);
    EXPECT_EQ(import.schedule->labels()[import.schedule->program(0).tasks()[1].label], "l2");
    EXPECT_EQ(count_of(import.report.contents, "eager sends"), 1);
    EXPECT_EQ(count_of(import.report.contents, "rendezvous sends"), 1);
    EXPECT_EQ(count_of(import.report.ignored, "nic other than 0"), 1);
}

TEST(ImportGoal, DeadlockOfTwoRanksIsACircleOverTheirMessages) {
    EXPECT_EQ(import_complaint("a.goal",
                               "num_ranks 2\n"
                               "rank 0 {\nl1: recv 8b from 1\nl2: send 8b to 1\nl2 requires l1\n}\n"
                               "rank 1 {\nl1: recv 8b from 0\nl2: send 8b to 0\nl2 requires l1\n}\n"),
              "tasks wait for each other in a circle of 4: a.goal:3 (l1 of rank 0) -> a.goal:4 (l2 of rank 0) -> "
              "a.goal:8 (l1 of rank 1) -> a.goal:9 (l2 of rank 1) -> a.goal:3 (l1 of rank 0) (none of them can start) "
              "remove one dependency");
}

TEST(ImportGoal, EverythingWrongIsSaidAtOnceByLine) {
    EXPECT_EQ(import_complaint("a.goal",
                               "num_ranks 2\n"
                               "rank 0 {\n"
                               "l1: send 8 to 1\n"
                               "l1: recv 8b from 5\n"
                               "l3: jump 8\n"
                               "l9 requires l1\n"
                               "}\n"
                               "rank 2 {\n"
                               "}\n"
                               "rank 0 {\n"
                               "l1: calc 99999999999999999999\n"),
              "a.goal:3: the size '8' has no unit (expected num_ranks N, rank R {, LABEL: calc N, LABEL: send Nb to R, "
              "LABEL: recv Nb from R, LABEL requires LABEL or }) correct the line\n"
              "a.goal:4: rank 5 is named (num_ranks is 2, ranks count from 0) correct one\n"
              "a.goal:5: 'jump' is no operation (expected num_ranks N, rank R {, LABEL: calc N, LABEL: send Nb to R, "
              "LABEL: recv Nb from R, LABEL requires LABEL or }) correct the line\n"
              "a.goal:6: l9 is required or requires (rank 0 has no operation of that label) correct it; lenient: left "
              "out\n"
              "a.goal:8: rank 2 has a block (num_ranks is 2, ranks count from 0) correct one\n"
              "a.goal:10: rank 0 has a second block (one block per rank) join them or correct the number\n"
              "a.goal:10: rank 0 has no closing brace add }\n"
              "a.goal:11: the time of calc is '99999999999999999999' (beyond 64 bits) give a smaller number");
}

TEST(ImportGoal, ALonelySendIsRefusedOrTakenAsItComes) {
    std::string const text =
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\nl1: recv 8b from 0 tag 4\n}\n";
    EXPECT_EQ(
        import_complaint("a.goal", text),
        "a.goal:3: rank 0 sends to rank 1 with tag 3 (rank 1 has no receive for it) add the receive or correct the "
        "tag; lenient: it is received as it comes\n"
        "a.goal:6: rank 1 receives from rank 0 with tag 4 (rank 0 has no send for it, so it would wait for ever) "
        "add the send or correct the tag; lenient: it is over at once");
    auto const import = import_text("a.goal", text, lenient());
    EXPECT_EQ(import.report.mended_count, 2);
    EXPECT_EQ(tasks_of(*import.schedule, 1), (Tasks{"compute 0ps", "receive 8B from 0"}));
}

TEST(ImportGoal, ReceivesOfAnyRankAreRefusedOrTakeTheFirstSend) {
    std::string const text =
        "num_ranks 3\nrank 0 {\na: send 8b to 2 tag 1\n}\nrank 1 {\na: send 9b to 2 tag 1\n}\n"
        "rank 2 {\na: recv 9b from 1 tag 1\nb: recv 8b from -1 tag -1\n}\n";
    EXPECT_NE(import_complaint("a.goal", text).find("a.goal:10: the receive takes what comes first"),
              std::string::npos);
    auto const import = import_text("a.goal", text, lenient());
    EXPECT_EQ(tasks_of(*import.schedule, 2), (Tasks{"receive 9B from 1", "receive 8B from 0"}));
}

TEST(ImportGoal, ATagBeyond32BitsIsRefusedOrTakenInFull) {
    std::string const text =
        "num_ranks 2\nrank 0 {\na: send 3000000000b to 1 tag 2147483648\n}\n"
        "rank 1 {\na: recv 3000000000b from 0 tag 2147483648\n}\n";
    EXPECT_NE(import_complaint("a.goal", text).find("a.goal:3: tag is 2147483648 (beyond 2^31 - 1"), std::string::npos);
    auto const import = import_text("a.goal", text, lenient());
    EXPECT_EQ(import.schedule->program(0).tasks()[0].tag, 2147483648U);
    EXPECT_EQ(import.schedule->program(0).tasks()[0].bytes, 3'000'000'000);  // GOAL holds sizes in 64 bits
}

TEST(ImportGoal, RanksWithoutABlockAndAnEmptySchedule) {
    auto const import = import_text("a.goal", "num_ranks 3\nrank 1 {\n}\n");
    EXPECT_EQ(import.schedule->ranks(), 3U);
    EXPECT_TRUE(mentions(import.report.assumptions, "2 ranks without a block"));
    EXPECT_TRUE(mentions(import.report.warnings, "no work is executed"));
}

}  // namespace
}  // namespace orrery::test
