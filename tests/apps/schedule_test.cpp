// SPDX-License-Identifier: Apache-2.0
// Schedules: messages take what LogGP says, collectives what their closed form says, whoever simulates them.
#include "apps/run/schedule_workload.hpp"
#include "tests/apps/checkpoint_testing.hpp"
#include "tests/apps/schedule_testing.hpp"

#include <gmock/gmock-matchers.h>

namespace orrery::testing {
namespace {

std::string const ping =
    "orrery_schedule: 1\nranks: 2\nprograms:\n"
    "  - ranks: 0\n    tasks:\n      - {name: work, compute: 5us}\n      - {send: 1MB, to: 1, after: work}\n"
    "  - ranks: 1\n    tasks:\n      - {receive: 1MB, from: 0}\n";

TEST(ScheduleMessages, TakeBytesAndLatencyExactly) {
    ScheduleDirectory const directory(one_switch(2), ping);
    for (auto const* model : {"flow", "analytic"}) {
        Simulated const run(directory.scenario, {std::string("network.model=") + model});
        auto const sent = rows_of(run.rows, OpKind::send).at(0);
        auto const received = rows_of(run.rows, OpKind::receive).at(0);
        EXPECT_EQ(sent.start, 5_us) << model;
        EXPECT_EQ(sent.end, 5_us + 20_us + 1_us) << model;  // 1 MB at 50 GB/s, two links of 500 ns
        EXPECT_EQ(received.start, 0_us) << model;
        EXPECT_EQ(received.end, sent.end) << model;
        EXPECT_EQ(received.wait, 5_us) << model;  // its sender computed
        EXPECT_EQ(run.share.transfers.delivered_bytes, 1'000'000) << model;
    }
}

TEST(ScheduleMessages, OverheadsStandBeforeAndBehind) {
    ScheduleDirectory const directory(one_switch(2), ping);
    for (auto const* receive : {"0ns", "3us"})
        for (auto const* send : {"0ns", "7us"}) {
            Simulated const run(directory.scenario, {std::string("network.messages.send_overhead=") + send,
                                                     std::string("network.messages.receive_overhead=") + receive});
            auto const extra = (send[0] == '7' ? 7_us : 0_us) + (receive[0] == '3' ? 3_us : 0_us);
            EXPECT_EQ(rows_of(run.rows, OpKind::receive).at(0).end, 26_us + extra) << send << " and " << receive;
        }
}

TEST(ScheduleMessages, MeetReceivesInTheOrderOfTheirStarts) {
    // The second message is small and overtakes the first; the first receive still gets the first message.
    ScheduleDirectory const directory(
        one_switch(3),
        "orrery_schedule: 1\nranks: 3\nprograms:\n"
        "  - ranks: 0\n    tasks:\n      - {send: 10MB, to: 1}\n      - {send: 0B, to: 1}\n"
        "  - ranks: 1\n    tasks:\n      - {name: a, receive: any, from: 0}\n"
        "      - {name: b, receive: any, from: 0}\n");
    Simulated const run(directory.scenario, {});
    auto const received = rows_of(run.rows, OpKind::receive);
    ASSERT_EQ(received.size(), 2U);
    EXPECT_EQ(received[0].end, 1_us);  // b: nothing but latency
    EXPECT_EQ(received[0].layer, 2);   // its label
    EXPECT_EQ(received[1].end, 201_us);
    EXPECT_EQ(received[1].layer, 1);
}

TEST(ScheduleMessages, TwoIntoOnePortShareIt) {
    ScheduleDirectory const directory(one_switch(3),
                                      "orrery_schedule: 1\nranks: 3\nprograms:\n"
                                      "  - {ranks: 0-1, tasks: [{send: 1MB, to: 2}]}\n"
                                      "  - {ranks: 2, tasks: [{receive: 1MB, from: 0}, {receive: 1MB, from: 1}]}\n");
    Simulated const run(directory.scenario, {});
    for (auto const& row : rows_of(run.rows, OpKind::receive)) EXPECT_EQ(row.end, 41_us);
}

TEST(ScheduleMessages, ToTheOwnRankTakeNoTimeAndNoLink) {
    ScheduleDirectory const directory(one_switch(2),
                                      "orrery_schedule: 1\nranks: 1\nprograms:\n"
                                      "  - {ranks: 0, tasks: [{receive: 1GB, from: 0}, {send: 1GB, to: 0}]}\n");
    Simulated const run(directory.scenario, {});
    EXPECT_EQ(run.step(), 0_us);
    EXPECT_EQ(run.share.unfinished_ranks, 0);
    EXPECT_EQ(run.share.transfers.flows, 0);
}

TEST(ScheduleTasks, StreamsTakeTheLowestIndexAndStartsAreNotEnds) {
    ScheduleDirectory const directory(one_switch(2),
                                      "orrery_schedule: 1\nranks: 1\nprograms:\n  - ranks: 0\n    tasks:\n"
                                      "      - {name: gate, compute: 10us, stream: 1}\n"
                                      "      - {name: late, compute: 1us, stream: 0, after: gate}\n"
                                      "      - {name: b, compute: 4us, stream: 0, after_start: gate}\n"
                                      "      - {name: c, compute: 2us, stream: 0, after_start: gate}\n"
                                      "      - {name: fixed, compute: 1us, not_before: 30us}\n");
    Simulated const run(directory.scenario, {});
    std::map<int, OperationRow> by_label;
    for (auto const& row : run.rows.operations) by_label[row.layer] = row;
    EXPECT_EQ(by_label.at(3).start, 0_us);   // b began with the gate, before c
    EXPECT_EQ(by_label.at(4).start, 4_us);   // c when the stream was free
    EXPECT_EQ(by_label.at(2).start, 10_us);  // late after the end of the gate
    EXPECT_EQ(by_label.at(5).start, 30_us);
    EXPECT_EQ(run.step(), 31_us);
}

std::string ring(int ranks, char const* bytes) {
    return fmt::format(
        "orrery_schedule: 1\nranks: {0}\ngroups: {{all: 0-{1}}}\n"
        "collectives:\n  sum: {{op: all-reduce, group: all, bytes: {2}, algorithm: ring}}\n"
        "programs:\n  - {{ranks: 0-{1}, tasks: [{{collective: sum}}]}}\n",
        ranks, ranks - 1, bytes);
}

TEST(ScheduleCollectives, ARingTakesItsClosedFormToThePicosecond) {
    // 100 MB over 8 ranks at 50 GB/s: 14 steps of 12.5 MB and one latency each.
    ScheduleDirectory const directory(one_switch(8), ring(8, "100MB"));
    for (auto const* model : {"flow", "analytic"}) {
        Simulated const run(directory.scenario, {std::string("network.model=") + model});
        EXPECT_EQ(run.step(), 3500_us + 14_us) << model;
        EXPECT_EQ(run.share.transfers.delivered_bytes, 8 * 14 * 12'500'000LL) << model;
        ASSERT_EQ(run.rows.collectives.size(), 1U);
        auto const& row = run.rows.collectives[0];
        EXPECT_EQ(row.last_end, run.step());
        EXPECT_EQ(row.bound, 3500_us + 1_us);  // the bytes of a port, and one latency
        EXPECT_EQ(row.payload_bytes, 8 * 14 * 12'500'000LL);
    }
}

TEST(ScheduleCollectives, OfOneMemberAreOverAtOnce) {
    ScheduleDirectory const directory(one_switch(2), ring(1, "100MB"));
    EXPECT_EQ(Simulated(directory.scenario, {}).step(), 0_us);
}

TEST(ScheduleCollectives, WaitForTheLastMember) {
    ScheduleDirectory const directory(
        one_switch(4),
        "orrery_schedule: 1\nranks: 4\ngroups: {all: [2, 0, 3, 1]}\n"
        "collectives:\n  sum: {op: all-reduce, group: all, bytes: 4MB, algorithm: ring}\n"
        "programs:\n  - {ranks: 0-2, tasks: [{collective: sum}]}\n"
        "  - {ranks: 3, tasks: [{name: w, compute: 1ms}, {collective: sum, after: w}]}\n");
    Simulated const run(directory.scenario, {"network.model=analytic"});
    // What does not depend on rank 3 has been passed on before it comes; three steps to it and three from it are left.
    auto const rows = rows_of(run.rows, OpKind::all_reduce);
    ASSERT_EQ(rows.size(), 4U);
    for (auto const& row : rows) {
        EXPECT_GE(row.end, 1000_us + 3 * 21_us);
        EXPECT_LE(row.end, 1000_us + 6 * 21_us);
        if (row.rank != 3) {
            EXPECT_EQ(row.wait, 1000_us);
        }
    }
}

// Collectives in flight together, overlapping groups, messages between, compute, and a second job on other ranks.
std::string const busy =
    "orrery_schedule: 1\nranks: 12\ngroups: {all: 0-11, even: [0, 2, 4, 6, 8, 10], some: [7, 3, 5, 11, 2]}\n"
    "collectives:\n"
    "  a: {op: all-reduce, group: all, bytes: 3MB, algorithm: ring}\n"
    "  b: {op: all-gather, group: even, bytes: 700001B, algorithm: ring}\n"
    "  c: {op: reduce-scatter, group: some, bytes: 2MB, algorithm: ring}\n"
    "programs:\n"
    "  - ranks: 0-11\n    tasks:\n"
    "      - {name: w, compute: 3us, stream: 0}\n"
    "      - {collective: a, after: w}\n"
    "      - {name: out, send: 200kB, to: +1, tag: 5}\n"
    "      - {name: in, receive: 200kB, from: -1, tag: 5}\n"
    "      - {compute: 2us, stream: 0, after: in}\n"
    "  - {ranks: [0, 2, 4, 6, 8, 10], tasks: [{name: v, compute: 1us, stream: 0}, {collective: b, after: v}]}\n"
    "  - {ranks: [2, 3, 5, 7, 11], tasks: [{collective: c}]}\n";
std::string const other_job =
    "orrery_schedule: 1\nranks: 3\ngroups: {all: 0-2}\n"
    "collectives: {x: {op: all-reduce, group: all, bytes: 1MB, algorithm: ring}}\n"
    "programs: [{ranks: 0-2, tasks: [{collective: x}, {send: 1MB, to: +1}, {receive: 1MB, from: -1}]}]\n";

struct Fabric1 {
    char const* name;
    char const* fabric;
    std::vector<std::string> sets;
};
void PrintTo(Fabric1 const& fabric, std::ostream* out) {
    *out << fabric.name;
}

std::string const leaves = "  kind: leaf_spine\n  leaf_spine: {hosts: 16, hosts_per_leaf: 4, spines: 2}\n";
std::string const supernodes =
    "  kind: cloudmatrix384\n  cloudmatrix384: {supernodes: 3, nodes: 1, npus_per_node: 3}\n";

class ScheduleOn : public ::testing::TestWithParam<Fabric1> {
  protected:
    ScheduleDirectory const directory_{GetParam().fabric, busy, "    more: [{file: other.yaml, first_rank: 12}]\n"};
    fs::path const other_ = directory_.write("other.yaml", other_job);
    Job const job_ = make_job(directory_.scenario, GetParam().sets);
    DryEnd const whole_ = dry_run(job_, {});

    void expect_whole(DryEnd const& end, std::string const& what) const {
        EXPECT_EQ(end.digest, whole_.digest) << what;
        EXPECT_EQ(end.unfinished, 0) << what;
        EXPECT_EQ(end.outcome.events, whole_.outcome.events) << what;
        EXPECT_TRUE(row_words(end.rows) == row_words(whole_.rows)) << what;
    }
};

TEST_P(ScheduleOn, OneAnswerForAnyNumberOfProcesses) {
    ASSERT_EQ(whole_.unfinished, 0);
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U})
        for (auto const* partition : {"blocks", "random"})
            expect_whole(dry_run(job_, {.processes = processes, .partition = partition}),
                         fmt::format("{} processes, {}", processes, partition));
    expect_whole(dry_run(job_, {.processes = 2, .width = Time::from_ps(job_.lookahead().ps() / 3)}), "narrow windows");
}

TEST_P(ScheduleOn, GoesOnFromACheckpoint) {
    auto const every = whole_.outcome.windows / 5;
    auto saving = dry_run(job_, {.processes = 2, .every_windows = every});
    expect_whole(saving, "saving");
    ASSERT_GT(saving.checkpoints, 0);
    expect_whole(dry_run(job_, {.processes = 3, .partition = "random"}, &saving.last), "resumed");
}

TEST_P(ScheduleOn, ConservesItsBytes) {
    Simulated const run(job_);
    EXPECT_EQ(run.share.transfers.injected_bytes, run.share.transfers.delivered_bytes);
    std::int64_t const ring = 22 * 3'000'000 + 5 * 700'001 + 4 * 2'000'000 + 4 * 1'000'000;  // sums over members
    EXPECT_EQ(run.share.transfers.delivered_bytes, ring + 12 * 200'000 + 3 * 1'000'000);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, ScheduleOn,
                         ::testing::Values(Fabric1{"leaves", leaves.c_str(), {}},
                                           Fabric1{"analytic", leaves.c_str(), {"network.model=analytic"}},
                                           Fabric1{"packets", leaves.c_str(), {"network.model=packet"}},
                                           Fabric1{"overheads",
                                                   leaves.c_str(),
                                                   {"network.messages.send_overhead=2us",
                                                    "network.messages.receive_overhead=300ns"}},
                                           Fabric1{"supernodes", supernodes.c_str(), {}}),
                         [](auto const& fabric) { return fabric.param.name; });

TEST(ScheduleInput, IsRefusedAsAWhole) {
    ScheduleDirectory const directory(
        one_switch(4),
        "orrery_schedule: 1\nranks: 3\ngroups: {all: 0-2}\n"
        "collectives: {x: {op: all-reduce, group: all, bytes: 1MB, algorithm: ring}}\n"
        "programs:\n  - {ranks: 0-1, tasks: [{collective: x}, {send: 1MB, to: 2, tag: 4}]}\n");
    try {
        make_job(directory.scenario);
        FAIL() << "accepted";
    } catch (InputError const& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 2 never joins collective 0"));
        EXPECT_THAT(error.what(),
                    ::testing::HasSubstr("task 1 of rank 0 sends to rank 2, tag 4 (1 sends and 0 receives"));
    }
}

TEST(ScheduleInput, SaysWhereTheFileIsWrong) {
    ScheduleDirectory const directory(one_switch(4),
                                      "orrery_schedule: 1\nranks: 3\nprograms:\n"
                                      "  - ranks: 0-4\n    tasks:\n      - {compute: 5}\n      - {sned: 1MB, to: 2}\n");
    try {
        make_job(directory.scenario);
        FAIL() << "accepted";
    } catch (InputError const& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("task.yaml:4:12"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("4 is not below 3"));
    }
}

TEST(ScheduleInput, RefusesWhatItCannotMean) {
    auto const refusal = [](std::string const& tasks, std::string const& collective = "") {
        ScheduleDirectory const directory(one_switch(4), "orrery_schedule: 1\nranks: 2\ngroups: {all: 0-1}\n" +
                                                             collective + "programs:\n  - {ranks: 0, tasks: [" + tasks +
                                                             "]}\n");
        try {
            make_job(directory.scenario);
        } catch (InputError const& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    using ::testing::HasSubstr;
    EXPECT_EQ(refusal("{compute: 1us, stream: 65534, name: a}, {send: 3B, to: 0, tag: 4294967295}, "
                      "{receive: 3B, from: 0, tag: 4294967295}"),
              "accepted");
    EXPECT_THAT(refusal("{compute: 1us, send: 3B}"), HasSubstr("task.yaml:5:24: a task with compute and send ("));
    EXPECT_THAT(refusal("{compute: 1us, name: a}, {compute: 1us, name: a}"), HasSubstr("name = a (rank 0 has a task"));
    EXPECT_THAT(refusal("{compute: 1us, to: 1}"), HasSubstr("to (belongs to send, not to compute)"));
    EXPECT_THAT(refusal("{compute: 1us, tag: 1}"), HasSubstr("tag (belongs to send and receive, not to compute)"));
    EXPECT_THAT(refusal("{compute: 1us, stream: 65535}"), HasSubstr("stream = 65535 (must be from 0 to 65534)"));
    EXPECT_THAT(refusal("{compute: 1us, stream: -1}"), HasSubstr("stream = -1 (must be from 0 to 65534)"));
    EXPECT_THAT(refusal("{send: 3B, to: 0, tag: 4294967296}"), HasSubstr("(must be from 0 to 4294967295)"));
    EXPECT_THAT(
        refusal("{collective: x}", "collectives: {x: {op: broadcast, group: all, bytes: 1MB, root: 4294967296}}\n"),
        HasSubstr("root = 4294967296 (must be from 0 to 4294967295)"));
    for (auto const* matrix : {"5", "[[1B]]", "[[1B, 1B], [1B]]", "[[1B, 1B, 1B], [1B, 1B, 1B], [1B, 1B, 1B]]"})
        EXPECT_THAT(
            refusal("{collective: x}",
                    fmt::format("collectives: {{x: {{op: all-to-all-v, group: all, pair_bytes: {}}}}}\n", matrix)),
            HasSubstr("task.yaml:4:61: pair_bytes is no 2 x 2 matrix (its group has 2 members)"))
            << matrix;
}

TEST(ScheduleInput, MustFitOnTheFabric) {
    ScheduleDirectory const directory(one_switch(4), ring(4, "1MB"), "    first_rank: 1\n");
    EXPECT_THROW(make_job(directory.scenario), InputError);
}

TEST(ScheduleStuck, NamesWhatCannotMove) {
    ScheduleDirectory const directory(one_switch(2), ping);
    auto const job =
        make_job(directory.scenario, {"fabric.degrade=[{links: \"h1-switch.down\", down: true, from: 1us}]"});
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    Rows rows;
    Simulation simulation(job, owner, alone, rows, {});
    simulation.run();
    EXPECT_EQ(simulation.share().unfinished_ranks, 2);
    auto const lines = simulation.waiting();
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines[0], ::testing::HasSubstr("1 messages cannot move, the first from rank 0 to rank 1"));
}

}  // namespace
}  // namespace orrery::testing
