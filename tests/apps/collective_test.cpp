// SPDX-License-Identifier: Apache-2.0
// Collectives through the whole simulator: closed forms, physical bounds, equal answers, and the command.
#include "apps/commands/collective.hpp"

#include "apps/run/schedule_workload.hpp"
#include "tests/apps/apps_testing.hpp"
#include "tests/apps/checkpoint_testing.hpp"
#include "workloads/collectives/algorithm.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <bit>

namespace orrery::testing {
namespace {

std::string hosts_on_switch(std::uint32_t hosts) {
    return fmt::format("{{kind: single_switch, single_switch: {{hosts: {}}}}}", hosts);
}
// One host per leaf: every pair has one latency, of four links.
std::string leaves(std::uint32_t hosts) {
    return fmt::format("{{kind: leaf_spine, leaf_spine: {{hosts: {}, hosts_per_leaf: 1, spines: 2}}}}", hosts);
}
// Neighbours have a link each way, and no latency but its own.
std::string ring_of(std::uint32_t hosts, std::string const& rate = "50GB/s") {
    return fmt::format(
        "{{kind: dimensions, dimensions: {{injection_latency: 0ns, dims: [{{type: ring, size: {}, rate: {}}}]}}}}",
        hosts, rate);
}

CollectiveLine line_of(CollectiveArguments const& arguments) {
    return measure_collective(arguments).front();
}
CollectiveArguments asked(std::string const& fabric, std::string const& op, std::string const& sizes,
                          std::string const& algorithm, std::string const& model = "analytic") {
    return {.fabric = fabric, .op = op, .sizes = sizes, .algorithm = algorithm, .model = model};
}

// The plan of one node: what the planner makes of hosts below one switch, and of hosts that each have a leaf.
ClosedForm form_of(std::string const& algorithm, CollectiveOp op, std::uint32_t members, std::int64_t bytes,
                   bool own_leaves) {
    CollectiveShape shape{.op = op, .members = members, .bytes = bytes};
    if (own_leaves) {
        shape.levels.emplace_back();
        for (std::uint32_t m = 0; m < members; ++m) shape.levels[0].push_back(m);
    }
    return plan_collective(algorithm, shape)->closed_form();
}
bool can(CollectiveAlgorithm const& algorithm, CollectiveOp op, std::uint32_t members, bool own_leaves) {
    CollectiveShape shape{.op = op, .members = members};
    if (own_leaves) {
        shape.levels.emplace_back();
        for (std::uint32_t m = 0; m < members; ++m) shape.levels[0].push_back(m);
    }
    auto const able = algorithms_for(shape);
    return std::find(able.begin(), able.end(), &algorithm) != able.end();
}

// The fold: data of the folded members and of the first exchange meet at a port, which the flow model shares.
bool steps_meet(CollectiveAlgorithm const& algorithm, CollectiveOp op, std::uint32_t members) {
    return algorithm.name == "halving_doubling" && op == CollectiveOp::all_reduce && !std::has_single_bit(members);
}

void expect_form(CollectiveAlgorithm const& algorithm, CollectiveOp op, std::uint32_t members, std::int64_t bytes,
                 bool own_leaves) {
    if (op == CollectiveOp::all_to_all_v || !can(algorithm, op, members, own_leaves)) return;
    auto const fabric = own_leaves ? leaves(members) : hosts_on_switch(members);
    auto const form = form_of(algorithm.name, op, members, bytes, own_leaves);
    auto const expected = form.time(own_leaves ? 2_us : 1_us, 50_GBps);
    auto const sizes = fmt::format("{}", bytes);
    auto const what = fmt::format("{} {} of {}, {} B: {}", algorithm.name, name_of(op), members, bytes, form.text);
    auto const analytic = line_of(asked(fabric, name_of(op), sizes, algorithm.name)).time;
    auto const flow = line_of(asked(fabric, name_of(op), sizes, algorithm.name, "flow")).time;
    if (form.holds == ClosedForm::Holds::exactly) {
        EXPECT_EQ(analytic.ps(), expected.ps()) << what;
        // Shares are rounded down and ends up: a few picoseconds per step.
        if (steps_meet(algorithm, op, members)) {
            EXPECT_GE(flow, analytic) << what;
        } else {
            EXPECT_NEAR(flow.seconds(), expected.seconds(), 1e-6 * expected.seconds() + 1e-11) << what;
        }
    } else {
        EXPECT_LE(analytic, expected) << what;
        EXPECT_LE(flow.seconds(), expected.seconds() * (1 + 1e-6) + 1e-11) << what;
    }
}

class CollectiveOn : public ::testing::TestWithParam<CollectiveAlgorithm const*> {};

TEST_P(CollectiveOn, SwitchAndLeavesTakesItsClosedForm) {
    for (auto const op : GetParam()->ops) {
        for (std::uint32_t members : {1U, 7U, 16U}) {
            expect_form(*GetParam(), op, members, 0, false);
            expect_form(*GetParam(), op, members, std::int64_t{members} * 100'000, false);
        }
        expect_form(*GetParam(), op, 13, std::int64_t{1} << 32, true);
    }
}

// All that leaves a port must pass it: 63/64 of 64 MiB, or twice as much of 16 MiB, at 50 GiB/s.
TEST_P(CollectiveOn, PortsIsNeverFasterThanTheyAllow) {
    auto const fabric = "{kind: single_switch, single_switch: {hosts: 64, host_rate: 50GiB/s}}";
    if (can(*GetParam(), CollectiveOp::all_to_all, 64, false)) {
        EXPECT_GE(line_of(asked(fabric, "all-to-all", "64MiB", GetParam()->name, "flow")).time, 1230_us);
    }
    if (can(*GetParam(), CollectiveOp::all_reduce, 64, false) && GetParam()->name != "in_switch") {
        EXPECT_GE(line_of(asked(fabric, "all-reduce", "16MiB", GetParam()->name, "flow")).time, 615_us);
    }
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveOn, ::testing::ValuesIn(collective_algorithms()),
                         [](auto const& param) { return param.param->name; });

// 4,096 ranks, and a prime number of them.
TEST(CollectiveSizes, LargeGroupsTakeTheirClosedForms) {
    expect_form(collective_algorithm("halving_doubling"), CollectiveOp::all_reduce, 4096, 4096 * 1000, false);
    expect_form(collective_algorithm("nhr"), CollectiveOp::all_gather, 1021, 1021 * 1000, false);
    expect_form(collective_algorithm("binomial_tree"), CollectiveOp::broadcast, 4093, 1'000'000, false);
    expect_form(collective_algorithm("ring"), CollectiveOp::reduce_scatter, 251, 251 * 1000 + 17, false);
}

TEST(CollectiveTimes, AllReduceOf100MbOver8Ranks) {
    for (auto const* model : {"analytic", "flow"}) {
        EXPECT_EQ(line_of(asked(hosts_on_switch(8), "all-reduce", "100MB", "ring", model)).time, 3500_us + 14_us);
        auto const direct = line_of(asked(hosts_on_switch(8), "all-reduce", "100MB", "direct", model)).time;
        EXPECT_NEAR(static_cast<double>(direct.ps()), 3'502'000'000.0, 2);  // one picosecond per phase on flow
    }
}

// Where a way has no latency of its own at its ends, a rank hears of an end this much later at most.
constexpr double slack_ns = 3;

// Half the data each way, over links of their own: half the time of one ring. (The analytic model sends both through
// the rank's own port one after the other.)
TEST(CollectiveTimes, ADoubleRingUsesBothDirectionsOfARing) {
    auto const one = line_of(asked(ring_of(8), "all-gather", "80MB", "ring", "flow"));
    auto const two = line_of(asked(ring_of(8), "all-gather", "80MB", "double_ring", "flow"));
    EXPECT_NEAR(one.time.seconds() * 1e9, 7 * 200'500, slack_ns);
    EXPECT_NEAR(two.time.seconds() * 1e9, 7 * 100'500, slack_ns);
}

// ASTRA-sim's regression: four chunks of 1 MiB, one after the other, on a ring of 8 at 50 GiB/s and 500 ns. What its
// own model adds (its memory of 50 GB/s read twice and written once per reduction, 10 ns per message) is 55.6 us.
TEST(CollectiveTimes, AstraSimsRingIsOursAndItsMemory) {
    TempDirectory const directory;
    auto const scenario = directory.write(
        "s.yaml", "fabric: " + ring_of(8, "50GiB/s") +
                      "\nnetwork: {model: analytic}\nworkload: {kind: collective, collective: {bytes: 256KiB, "
                      "algorithm: ring, repeat: 4}}\n");
    auto const ours = Simulated(scenario, {}).step();
    EXPECT_NEAR(ours.seconds() * 1e9, 4 * 14 * (32'768 / 53.6870912 + 500), 4 * slack_ns);
    double const memory = 4 * 7 * 3 * 32'768 / 50.0, endpoint = 4 * 14 * 10;
    EXPECT_NEAR(ours.seconds() * 1e9 + memory + endpoint, 117'780, 0.0005 * 117'780);
}

// Cost and bytes are what its protocol says: LL doubles the bytes, and each step has its latency.
TEST(CollectiveTimes, ProtocolsAddBytesAndLatencies) {
    auto arguments = asked(hosts_on_switch(8), "all-gather", "8MB", "ring");
    arguments.protocol = "LL";
    EXPECT_EQ(line_of(arguments).time, 6'600_ns + 7 * (40_us + 1_us + 600_ns));
    arguments.protocol = "none";
    EXPECT_EQ(line_of(arguments).time, 7 * (20_us + 1_us));
}

TEST(CollectiveTimes, BandwidthsAreThoseOfNcclTests) {
    auto const line = line_of(asked(hosts_on_switch(8), "all-reduce", "100MB", "ring"));
    EXPECT_EQ(line.count, 50'000'000);
    EXPECT_NEAR(line.algorithm_gb_per_s, 100e6 / 3514e-6 / 1e9, 1e-9);
    EXPECT_NEAR(line.bus_gb_per_s, line.algorithm_gb_per_s * 1.75, 1e-9);
    EXPECT_EQ(line.bound, 3500_us + 1_us);
    EXPECT_THAT(line.bottleneck, ::testing::HasSubstr("switch"));
    EXPECT_EQ(bus_factor("broadcast", 8), 1);
    EXPECT_EQ(bus_factor("all-gather", 1), 0);
}

// One answer on any number of processes, whatever the algorithm; on several super-nodes several domains carry one.
TEST(CollectiveProcesses, OneAnswerForAnyNumber) {
    TempDirectory const directory;
    auto const scenario = directory.write(
        "c.yaml",
        "fabric:\n  kind: cloudmatrix384\n  cloudmatrix384: {supernodes: 2, nodes: 2, npus_per_node: 2}\n"
        "workload: {kind: collective, collective: {bytes: 1000003B, repeat: 2}}\n");
    for (auto const* algorithm :
         {"hierarchical:direct,ring*3", "double_binary_tree*2", "halving_doubling", "hccl", "nccl:H100"}) {
        auto const job = make_job(scenario, {std::string("workload.collective.algorithm=") + algorithm});
        auto const whole = dry_run(job, {});
        ASSERT_EQ(whole.unfinished, 0) << algorithm;
        for (std::uint32_t const processes : {2U, 3U, 4U, 7U}) {
            auto const end = dry_run(job, {.processes = processes, .partition = "random"});
            EXPECT_EQ(end.digest, whole.digest) << algorithm << " on " << processes;
            EXPECT_EQ(end.unfinished, 0);
        }
    }
}

TEST(CollectiveCommand, SizesAsNcclTestsHasThem) {
    EXPECT_EQ(parse_sizes("8:1KiB:x4"), (std::vector<std::int64_t>{8, 32, 128, 512}));
    EXPECT_EQ(parse_sizes("1MiB:3MiB:+1MiB"), (std::vector<std::int64_t>{1 << 20, 2 << 20, 3 << 20}));
    EXPECT_EQ(parse_sizes("0,16MiB"), (std::vector<std::int64_t>{0, 16 << 20}));
    EXPECT_THROW(parse_sizes("8:1KiB"), InputError);
    EXPECT_THROW(parse_sizes("8:1KiB:2"), InputError);
    EXPECT_THROW(parse_sizes("0:1KiB:x2"), InputError);
    EXPECT_THROW(parse_sizes("8:1KiB:x1"), InputError);
    EXPECT_THROW(parse_sizes("2KiB:1KiB:x2"), InputError);
    EXPECT_THROW(parse_sizes("8 elephants"), InputError);
}

TEST(CollectiveCommand, PrintsATable) {
    TempDirectory const here;
    auto const run = orrery(
        {"collective", "--fabric", "single_switch", "--op", "all-to-all", "--sizes", "0,1MiB", "--algorithm", "direct"},
        here.path());
    ASSERT_EQ(run.code, 0) << run.err;
    auto const screen = run.screen();
    EXPECT_EQ(screen.front().substr(0, 44), "# all-to-all of 8 ranks on single_switch, fl");
    EXPECT_THAT(run.out, ::testing::HasSubstr("busbw"));
    EXPECT_THAT(screen.back(), ::testing::MatchesRegex(" +1048576 +524288 +19.350 +54.19 +47.42 +19.350 +100% .*"));
}

// A broadcast of four in a chain: 3 (1 us + 20 us); by the option instead, a binomial tree of two steps.
TEST(CollectiveCommand, WhatIsNotGivenIsAsTheScenarioHasIt) {
    TempDirectory const here;
    auto const scenario =
        here.write("c.yaml", "fabric: " + hosts_on_switch(8) +
                                 "\nnetwork: {model: analytic}\nworkload: {kind: collective, "
                                 "collective: {op: broadcast, algorithm: ring, ranks: 4, repeat: 3}}\n");
    CollectiveArguments arguments{.fabric = scenario.string(), .sizes = "1MB"};
    auto const line = line_of(arguments);
    EXPECT_EQ(line.time, 63_us);
    EXPECT_EQ(line.algorithm, "ring");
    EXPECT_EQ(line.bus_gb_per_s, line.algorithm_gb_per_s);
    arguments.algorithm = "binomial_tree";
    EXPECT_EQ(line_of(arguments).time, 42_us);
    auto const run = orrery({"collective", "--fabric", "c.yaml", "--sizes", "1MB"}, here.path());
    EXPECT_EQ(run.screen().front(), "# broadcast of 4 ranks on single_switch, analytic model") << run.err;
}

TEST(CollectiveCommand, ABarrierHasNoBytes) {
    TempDirectory const here;
    auto const lines = measure_collective(asked("single_switch", "barrier", "8,1MiB", "dissemination"));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].bytes, 0);
    EXPECT_EQ(lines[0].algorithm_gb_per_s, 0);
    auto const run = orrery({"collective", "--fabric", "single_switch", "--op", "barrier"}, here.path());
    EXPECT_THAT(run.out, ::testing::HasSubstr("# a barrier has no bytes: sizes have no effect\n"));
}

TEST(CollectiveCommand, PathsOfAFabricAreThoseOfTheCurrentDirectory) {
    TempDirectory const here;
    auto const refused = [&](std::vector<std::string> options) {
        options.insert(options.begin(), "collective");
        auto const run = orrery(options, here.path());
        EXPECT_EQ(run.code, 2) << run.out;
        return run.err;
    };
    auto const text = "{kind: graph, graph: {path: g.yaml}}";
    EXPECT_THAT(
        refused({"--fabric", text}),
        ::testing::AllOf(::testing::StartsWith(std::string("--fabric ") + text), ::testing::HasSubstr("(no such file)"),
                         ::testing::HasSubstr("looked in " + here.path().string())));
    EXPECT_THAT(refused({"--fabric", "{kind: "}), ::testing::Not(::testing::HasSubstr("orrery-collective")));
    EXPECT_THAT(refused({"--fabric", "nofile.yaml"}), ::testing::StartsWith("nofile.yaml (no such file)"));
    EXPECT_THAT(refused({"--fabric", "./nofile"}), ::testing::StartsWith("./nofile (no such file)"));
    here.write("g.yaml", "ranks: 2\nlinks:\n  - {a: h0, b: h1}\n");
    auto const run = orrery({"collective", "--fabric", text, "--sizes", "8"}, here.path());
    EXPECT_EQ(run.code, 0) << run.err;
}

// 500 s of traffic: bins of 100 us would be five million per link.
TEST(CollectiveCommand, HugeSizesTakeNoMemoryForBinsOfLinks) {
    auto const peak_kib = [] {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    auto const before = peak_kib();
    EXPECT_EQ(line_of(asked(hosts_on_switch(2), "send-recv", "25TB", "direct", "flow")).time, 500'000'001_us);
    EXPECT_LT(peak_kib() - before, 65'536);
}

TEST(CollectiveCommand, WhatTheCommandGivesNoSetGives) {
    auto const refuses = [](char const* set) {
        auto arguments = asked("single_switch", "all-reduce", "8", "ring");
        arguments.sets = {set};
        try {
            measure_collective(arguments);
            return std::string("accepted");
        } catch (InputError const& error) {
            return std::string(error.what());
        }
    };
    for (auto const* set : {"workload.collective.bytes=16B", "workload.collective={bytes: 16B}",
                            "workload.collective.repeat=2", "network.model=flow"})
        EXPECT_THAT(refuses(set), ::testing::HasSubstr("leave this out")) << set;
    EXPECT_EQ(refuses("workload.collective.stride=2"), "accepted");
}

TEST(CollectiveCommand, RefusesWhatItCannot) {
    TempDirectory const here;
    auto const refused = [&](char const* option, char const* value) {
        auto const run = orrery({"collective", "--fabric", "single_switch", option, value}, here.path());
        EXPECT_EQ(run.code, 2) << option;
        return run.err;
    };
    EXPECT_THAT(refused("--ranks", "9"), ::testing::HasSubstr("take fewer"));
    EXPECT_THAT(refused("--algorithm", "pairwise"), ::testing::HasSubstr("cannot carry out all-reduce"));
    EXPECT_THAT(refused("--op", "all-reduse"), ::testing::HasSubstr("did you mean"));
    EXPECT_THAT(refused("--root", "8"), ::testing::HasSubstr("take one below that"));
}

}  // namespace
}  // namespace orrery::testing
