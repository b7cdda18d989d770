// SPDX-License-Identifier: Apache-2.0
// Lists of flows: HPCC, htsim, tables, and traffic from a distribution of sizes.
#include "import_testing.hpp"

namespace orrery::test {
namespace {

using Tasks = std::vector<std::string>;

std::int64_t sent_bytes(Schedule const& schedule) {
    std::int64_t bytes = 0;
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank)
        for (auto const program = schedule.program(rank); auto const& task : program.tasks())
            bytes += task.kind == TaskKind::send ? task.bytes : 0;
    return bytes;
}
std::int64_t task_count(Schedule const& schedule, TaskKind kind) {
    std::int64_t count = 0;
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank)
        for (auto const program = schedule.program(rank); auto const& task : program.tasks())
            count += task.kind == kind ? 1 : 0;
    return count;
}

TEST(ImportHpcc, FlowsStartAtTheirSecondsInAnyOrder) {
    auto const import = import_text("flow.txt", "2\n2 1 3 100 200000000 2.5\n0 1 3 100 7 0.000001\n");
    EXPECT_EQ(tasks_of(*import.schedule, 2), Tasks{"send 200000000B to 1 at 2500000000000ps"});
    EXPECT_EQ(tasks_of(*import.schedule, 0), Tasks{"send 7B to 1 at 1000000ps"});
    EXPECT_EQ(tasks_of(*import.schedule, 1), (Tasks{"receive 200000000B from 2", "receive 7B from 0"}));
    EXPECT_EQ(count_of(import.report.ignored, "priorities and ports"), 2);
}

TEST(ImportHpcc, NodesAreTheHostsOfTheTopology) {
    TempFile const topology("topology.txt", "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 1Gbps 1ms 0\n0 3 1Gbps 1ms 0\n");
    ImportOptions options;
    options.topology = topology.path();
    auto const import = import_text("flow.txt", "1\n3 1 3 100 8 0\n", options);
    EXPECT_EQ(import.schedule->ranks(), 3U);
    EXPECT_EQ(tasks_of(*import.schedule, 2), Tasks{"send 8B to 0"});
    EXPECT_EQ(import_complaint("flow.txt", "2\n3 0 3 100 8 0\n4 1 3 100 8 0\n", options),
              "flow.txt:2: node 0 is named (it is a switch of the topology) correct it\n"
              "flow.txt:3: node 4 is named (the topology has 4 nodes, from 0) correct it");
}

TEST(ImportHpcc, AWrongCountIsRefusedOrWhatIsThereIsUsed) {
    std::string const text = "1\n0 1 3 100 8 0\n1 0 3 100 8 0\nFirst line: number of flows\n";
    EXPECT_EQ(import_complaint("flow.txt", text),
              "flow.txt:1: the header says 1 flows, 2 found (first surplus line 3) correct the count; lenient: 2 are "
              "used");
    auto const import = import_text("flow.txt", text, lenient());
    EXPECT_EQ(task_count(*import.schedule, TaskKind::send), 2);
    EXPECT_EQ(count_of(import.report.ignored, "lines of text"), 1);
    EXPECT_EQ(import_complaint("flow.txt", "3\n0 1 3 100 8 0\n"),
              "flow.txt:1: the header says 3 flows, 1 found (the file is cut short, or the count is wrong) correct the "
              "count; lenient: 1 are used");
}

TEST(ImportHpcc, SizesBeyond32BitsAreRefusedOrTakenInFull) {
    std::string const text = "1\n0 1 3 100 1000000000000 0\n";
    EXPECT_NE(import_complaint("flow.txt", text).find("flow.txt:2: the size is 1000000000000 (beyond 2^31 - 1"),
              std::string::npos);
    EXPECT_EQ(sent_bytes(*import_text("flow.txt", text, lenient()).schedule), 1'000'000'000'000);
}

TEST(ImportHpcc, AnEmptyListRunsAndSaysSo) {
    auto const import = import_text("flow_none.txt", "0");
    EXPECT_TRUE(mentions(import.report.warnings, "no work is executed"));
}

TEST(ImportFlowSizes, LoadIsTheShareOfTheRateThatRanksOffer) {
    // Mean: half are uniform in 0 to 2,000 bytes, half in 2,000 to 8,000: (1,000 + 5,000) / 2.
    std::string const text = "0 0\n2000 50\n8000 100\n";
    ImportOptions options = for_ranks(16);
    options.load = 0.5;
    options.duration = Time::from_ps(1'000'000'000);  // 1 ms
    auto const import = import_text("sizes.txt", text, options);
    auto const& schedule = *import.schedule;
    // 16 ranks at 100 Gb/s for 1 ms are 200 MB; half of it in some 33,333 flows, whose count has a deviation of 0.5 %.
    EXPECT_NEAR(static_cast<double>(sent_bytes(schedule)), 1e8, 3e6);
    EXPECT_NEAR(static_cast<double>(task_count(schedule, TaskKind::send)), 33'333, 1'000);
    EXPECT_EQ(task_count(schedule, TaskKind::send), task_count(schedule, TaskKind::receive));
    for (auto const program = schedule.program(3); auto const& task : program.tasks()) {
        EXPECT_NE(task.peer, 3U);
        EXPECT_LE(task.bytes, 8000);
        EXPECT_LT(task.not_before, options.duration);
    }
    EXPECT_TRUE(mentions(import.report.assumptions, "load 0.5 of 100 Gb/s") ||
                mentions(import.report.assumptions, "load 0.5 of 12.5 GB/s"));
}

TEST(ImportFlowSizes, ASeedIsATrafficAndTheSameOneEveryTime) {
    std::string const text = "0 0\n1000 50\n80000 100\n";
    auto const traffic = [&](std::uint64_t seed) {
        auto options = for_ranks(4);
        options.seed = seed;
        options.duration = Time::from_ps(100'000'000);
        return tasks_of(*import_text("sizes.txt", text, options).schedule, 1);
    };
    EXPECT_FALSE(traffic(1).empty());
    EXPECT_EQ(traffic(1), traffic(1));
    EXPECT_NE(traffic(1), traffic(2));
}

TEST(ImportFlowSizes, DistributionsThatGoBackOrEndEarlyAreRefused) {
    EXPECT_EQ(
        import_complaint("sizes.txt", "0 0\n10 50\n20 60\n15 70\n30 90\n", for_ranks(2)),
        "sizes.txt: the distribution ends at 90 (100, or 1 where shares are no percentages) correct the last line\n"
        "sizes.txt:4: the point 15 70 goes back (both columns of a cumulative distribution grow) correct it");
    EXPECT_NE(import_complaint("sizes.txt", "0 0\n10 50\n20 100\n").find("a flow needs two"), std::string::npos);
}

TEST(ImportHtsim, TriggersStartWhatFollowsOnTheSameRank) {
    auto const import = import_text("a.cm",
                                    "Nodes 3\nConnections 3\nTriggers 2\n"
                                    "0->1 id 1 start 1.5 size 100 send_done_trigger 1\n"
                                    "0->2 id 2 trigger 1 size 200 recv_done_trigger 2\n"
                                    "2->1 id 3 trigger 2 size 300\n"
                                    "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
    EXPECT_EQ(tasks_of(*import.schedule, 0), (Tasks{"send 100B to 1 at 1500000ps", "send 200B to 2 <0"}));
    EXPECT_EQ(tasks_of(*import.schedule, 2), (Tasks{"receive 200B from 0", "send 300B to 1 <0"}));
    EXPECT_EQ(count_of(import.report.contents, "starts by trigger"), 2);
}

TEST(ImportHtsim, ABarrierWaitsForAllAndOtherRanksHearByAMessage) {
    auto const import = import_text("a.cm",
                                    "Nodes 4\nConnections 3\nTriggers 1\n"
                                    "0->1 id 1 start 0 size 100 send_done_trigger 1\n"
                                    "1->2 id 2 start 0 size 100 send_done_trigger 1\n"
                                    "3->0 id 3 trigger 1 size 300\n"
                                    "trigger id 1 barrier count 2\n");
    EXPECT_EQ(tasks_of(*import.schedule, 3), (Tasks{"send 300B to 0 <1 <2", "receive 0B from 1", "receive 0B from 2"}));
    EXPECT_EQ(count_of(import.report.contents, "triggers that a message of 0 bytes carries"), 2);
}

TEST(ImportHtsim, CountsTriggersAndStartsThatAreWrongAreSaidByLine) {
    EXPECT_EQ(
        import_complaint("a.cm",
                         "Nodes 2\nConnections 5\n"
                         "0->1 start 0 size 5 color red\n"
                         "0->7 start 0 size 5\n"
                         "0->1 size 5\n"
                         "0->1 trigger 9 size 5\n"
                         "trigger id 9 oneshot\n"),
        "a.cm: the header says 0 triggers, 1 found (the file is cut short, or the count is wrong) correct the "
        "count; lenient: 1 are used\n"
        "a.cm:2: the header says 5 connections, 3 found (the file is cut short, or the count is wrong) correct the "
        "count; lenient: 3 are used\n"
        "a.cm:3: 'color' follows the flow (expected id, start, trigger, size, send_done_trigger, recv_done_trigger "
        "or prio) correct the line\n"
        "a.cm:4: node 7 is named (Nodes is 2, nodes count from 0) correct one\n"
        "a.cm:5: the flow never starts (a start time or a trigger) give one of them\n"
        "a.cm:6: trigger 9 is never fired (no flow names it in send_done_trigger or recv_done_trigger, so what it "
        "starts would never run) add it, or give the flow a start");
}

TEST(ImportFlowTable, BothEndsOfAPairMustAgree) {
    EXPECT_EQ(import_complaint("a.csv", "src,dst,send_bytes,recv_bytes\n4,17,0,1597440\n1,2,8,8\n"),
              "a.csv:2: 4->17 send 0, recv 1597440 (a receive that expects more waits for ever, one that expects less "
              "overflows) make both ends alike; lenient: 0 bytes");
    auto const import = import_text("a.csv", "src,dst,bytes,start\n0, 1, 5, 0.5\n", for_ranks(4));
    EXPECT_EQ(import.schedule->ranks(), 4U);
    EXPECT_EQ(tasks_of(*import.schedule, 0), Tasks{"send 5B to 1 at 500000000000ps"});
}

TEST(ImportForeign, SaysWhatAFileIsInstead) {
    EXPECT_NE(import_complaint("topology.txt", "10 2 12\n8 9\n0 8 100Gbps 0.001ms 0\n").find("fabric.file.path"),
              std::string::npos);
    EXPECT_NE(import_complaint("a.json", "{\"model_type\": \"deepseek_v3\"}").find("workload.model"),
              std::string::npos);
    EXPECT_NE(import_complaint("a.bin", "\x1f\x8b\x08").find("unpack it first"), std::string::npos);
    EXPECT_NE(import_complaint("a.txt", "hello\n").find("no importer knows this file"), std::string::npos);
    EXPECT_NE(import_complaint("a.txt", "").find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace orrery::test
