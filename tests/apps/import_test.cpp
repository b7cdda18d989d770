// SPDX-License-Identifier: Apache-2.0
// Files of other tools, named in a scenario and simulated, and what orrery import prints of them.
#include "tests/apps/checkpoint_testing.hpp"
#include "tests/apps/schedule_testing.hpp"

#include <gmock/gmock-matchers.h>

namespace orrery::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// A scenario that runs FILE with this text on `hosts` ranks of one switch.
class ImportDirectory : public TempDirectory {
  public:
    ImportDirectory(std::string const& name, std::string const& text, int hosts, std::string const& more = "") {
        file = write(name, text);
        scenario = write("run.yaml", "fabric:\n" + one_switch(hosts) +
                                         "workload:\n  kind: schedule\n  schedule:\n    file: " + name + "\n" + more);
    }
    fs::path file, scenario;
};

constexpr char const* micro_all_reduce =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8 checkpoints: 0 "
    "checkpoint_initiates: 0\n"
    "1\n"
    "embedding_layer -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n";

// SimAI issue 208: the collective is over a TP group of 8, so the size of the machine changes nothing:
// 2 x 7/8 x 16 MiB at 180 GB/s = 163.1 us, and 14 latencies.
TEST(ImportRuns, MicroAllReduceTakesTheSameOn32And64RanksAndSaysWhy) {
    for (int const hosts : {32, 64}) {
        ImportDirectory const directory("micro.txt", micro_all_reduce, hosts, "    import: {system: ring.json}\n");
        directory.write("ring.json", R"({"all-reduce-implementation": ["ring"]})");
        auto const job = make_job(directory.scenario,
                                  {"fabric.single_switch.host_rate=180GB/s", "fabric.single_switch.link_latency=1ns"});
        Simulated const run(job);
        ASSERT_EQ(run.rows.collectives.size(), 1U);
        auto const& row = run.rows.collectives[0];
        // Each of 14 steps: 2,097,152 bytes in 11,650,844.4 ps, rounded up, and two links of 1 ns.
        EXPECT_EQ(row.last_end - row.first_start, 14 * Time::from_ps(11'650'845 + 2'000)) << hosts;
        EXPECT_EQ(row.first_start, 556_us);
        EXPECT_THAT(job.warnings(), Contains(HasSubstr(fmt::format("{} of {} ranks are idle", hosts - 8, hosts))));
        EXPECT_THAT(job.warnings(), Contains(HasSubstr("TP 8 (consecutive ranks)")));
    }
}

TEST(ImportRuns, AGoalMessageTakesItsBytesAndLatency) {
    ImportDirectory const directory(
        "one.goal",
        "num_ranks 16\nrank 0 {\nl1: calc 500\nl2: send 80000000b to 15 tag 0\nl2 requires "
        "l1\n}\nrank 15 {\nl1: recv 80000000b from 0 tag 0\nl2: calc 100\nl2 requires l1\n}\n",
        16);
    Simulated const run(directory.scenario, {});
    // 80 MB at 50 GB/s after 500 ns, 1 us on the way, and 100 ns.
    EXPECT_EQ(run.step(), 500_ns + 1600_us + 1_us + 100_ns);
}

TEST(ImportRuns, FlowsOfAnIncastShareThePort) {
    ImportDirectory const directory("incast.cm",
                                    "Nodes 4\nConnections 3\nTriggers 1\n0->3 id 1 start 0 size 1000000\n"
                                    "1->3 id 2 start 0 size 1000000 send_done_trigger 1\n"
                                    "1->0 id 3 trigger 1 size 1000000\ntrigger id 1 oneshot\n",
                                    4);
    Simulated const run(directory.scenario, {});
    EXPECT_EQ(run.step(), 40_us + 1_us + 20_us + 1_us);  // 2 MB into one port, then 1 MB alone
}

// Two jobs of other tools on one fabric, on ranks of their own.
TEST(ImportRuns, TwoFilesShareAFabric) {
    ImportDirectory const directory("a.csv", "src,dst,bytes\n0,1,1000000\n", 4,
                                    "    stride: 2\n    more:\n      - {file: b.txt, first_rank: 1, stride: 2}\n");
    directory.write("b.txt", "1\n0 1 3 100 1000000 0\n");
    Simulated const run(directory.scenario, {});
    EXPECT_EQ(run.share.transfers.delivered_bytes, 2'000'000);
    EXPECT_EQ(run.step(), 20_us + 1_us);  // they meet in no port
}

TEST(ImportRuns, RanksWithoutTasksDoNothing) {
    ImportDirectory const directory("a.csv", "src,dst,bytes\n0,3,1000000\n", 4);
    for (auto const* model : {"flow", "packet"}) {
        auto const job = make_job(directory.scenario, {fmt::format("network.model={}", model)});
        Simulated const run(job);
        EXPECT_EQ(run.share.unfinished_ranks, 0) << model;
        EXPECT_EQ(run.share.transfers.delivered_bytes, 1'000'000) << model;
        EXPECT_EQ(dry_run(job, {.processes = 3}).digest, dry_run(job, {}).digest) << model;
    }
}

TEST(ImportRuns, RandomTrafficIsOneAnswerOnAnyNumberOfProcesses) {
    ImportDirectory const directory("sizes.txt", "0 0\n2000 50\n80000 100\n", 8,
                                    "    import: {load: 0.8, host_rate: 400Gb/s, duration: 20us}\n");
    auto const job = make_job(directory.scenario);
    auto const alone = dry_run(job, {});
    EXPECT_EQ(alone.unfinished, 0);
    EXPECT_GT(alone.outcome.events, 200);
    for (std::uint32_t const processes : {2U, 3U, 4U, 7U})
        EXPECT_EQ(dry_run(job, {.processes = processes}).digest, alone.digest) << processes;
}

TEST(ImportRuns, WhatIsWrongIsRefusedBeforeTheRun) {
    ImportDirectory const directory("flow.txt", "2\n0 1 3 100 1000000 0\n", 4);
    auto const refused = orrery({"run", "run.yaml"}, directory.path());
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("flow.txt:1: the header says 2 flows, 1 found"));
    auto const taken = orrery({"run", "run.yaml", "--set", "workload.schedule.import.lenient=true"}, directory.path());
    EXPECT_EQ(taken.code, 0) << taken.err;
    EXPECT_THAT(taken.out, HasSubstr("1 are used"));
}

TEST(ImportRuns, TheCommandSaysWhatIsInAFileAndWhatIsNotHonoured) {
    ImportDirectory const directory("flow.txt", "2\n0 1 3 100 1000000 0\n2 1 3 100 7 0\nand text\n", 4);
    auto const said = orrery({"import", "flow.txt"}, directory.path());
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, AllOf(HasSubstr("flow list of HPCC"), HasSubstr("3 ranks"), HasSubstr("2  flows"),
                                HasSubstr("2  priorities and ports"), HasSubstr("1  lines of text"),
                                HasSubstr("node N is rank N")));
    auto const refused = orrery({"import", "run.yaml"}, directory.path());
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("no importer knows this file"));
}

}  // namespace
}  // namespace orrery::testing
