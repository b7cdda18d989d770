// SPDX-License-Identifier: Apache-2.0
// The program from a shell: exit codes, what it writes and where, refusals, limits and signals.
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-more-matchers.h>

#include <csignal>
#include <thread>

namespace orrery::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommandLine : public ::testing::Test {
  protected:
    TinyDirectory directory_;

    Finished run(std::vector<std::string> arguments) { return orrery(std::move(arguments), directory_.path()); }
    // Refused: exit code 2, within a second on an idle machine, one message, nothing on the screen, nothing written.
    std::string refusal(std::vector<std::string> arguments) {
        auto const before = directory_.entries();
        auto const finished = run(std::move(arguments));
        EXPECT_EQ(finished.code, 2) << finished.err;
        EXPECT_THAT(finished.out, IsEmpty());
        EXPECT_LT(finished.seconds, 5);
        EXPECT_EQ(directory_.entries(), before);
        return finished.err;
    }
};

TEST_F(CommandLine, ARunLeavesTwoFilesWhereItWasTold) {
    auto const finished = run({"run", "tiny.yaml", "--out", "results/a"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.err, IsEmpty());
    EXPECT_THAT(directory_.entries(), ElementsAre("results/", "results/a/", "results/a/run.h5",
                                                  "results/a/summary.json", "tiny.json", "tiny.yaml"));
}

TEST_F(CommandLine, TheDefaultDirectoryIsNamedAfterTheScenario) {
    EXPECT_EQ(run({"run", "tiny.yaml"}).code, 0);
    EXPECT_THAT(directory_.entries(),
                ElementsAre("tiny.json", "tiny.out/", "tiny.out/run.h5", "tiny.out/summary.json", "tiny.yaml"));
}

TEST_F(CommandLine, QuietPrintsNothing) {
    auto const finished = run({"run", "tiny.yaml", "--quiet"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, IsEmpty());
}

TEST_F(CommandLine, AnEarlierResultIsKeptUnlessForced) {
    ASSERT_EQ(run({"run", "tiny.yaml", "--out", "o"}).code, 0);
    auto const digest = summary_of(directory_.path() / "o")["digest"];
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "seed=2", "--out", "o"}),
                AllOf(HasSubstr("o holds run.h5 and summary.json of an earlier run"), HasSubstr("--force")));
    EXPECT_EQ(summary_of(directory_.path() / "o")["digest"], digest);
    EXPECT_EQ(run({"run", "tiny.yaml", "--set", "seed=2", "--out", "o", "--force"}).code, 0);
    EXPECT_NE(summary_of(directory_.path() / "o")["digest"], digest);
}

TEST_F(CommandLine, ARefusedRunKeepsTheEarlierResultEvenWhenForced) {
    ASSERT_EQ(run({"run", "tiny.yaml", "--out", "o"}).code, 0);
    for (auto const& wrong : std::vector<std::vector<std::string>>{
             {"--partition", "bloks"}, {"--window", "1s"}, {"--window", "fast"}, {"--set", "workload.ep=7"}}) {
        std::vector<std::string> arguments{"run", "tiny.yaml", "--out", "o", "--force"};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        EXPECT_THAT(refusal(arguments), Not(IsEmpty())) << wrong[0] << " " << wrong[1];
    }
}

TEST_F(CommandLine, RefusesWhatDoesNotDivide) {
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.ep=5"}),
                AllOf(HasSubstr("32 routed"), HasSubstr("do not divide over 5 ranks"), HasSubstr("workload.ep=4")));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.experts.redundant=3"}),
                AllOf(HasSubstr("do not divide over 8 ranks"), HasSubstr("workload.experts.redundant=8")));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.ep=16"}), HasSubstr("the fabric has 8"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.ep_groups=2"}), HasSubstr("ep_groups: 1"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.microbatches=5"}), HasSubstr("4 or 6"));
}

TEST_F(CommandLine, TellsProblemsOfModelAndFabricTogether) {
    auto const text = refusal({"run", "tiny.yaml", "--set", "workload.moe_layers=200", "--set", "workload.ep=7",
                               "--set", "fabric.degrade=[{links: zzz, down: true}]"});
    EXPECT_THAT(text, AllOf(HasSubstr("zzz"), HasSubstr("workload.moe_layers = 200"), HasSubstr("--set workload.ep=7"),
                            HasSubstr("do not divide over 7 ranks")));
}

TEST_F(CommandLine, RefusesRatesThatTheSolverCannotHold) {
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "fabric.kind=leaf_spine", "--set",
                         "fabric.leaf_spine.oversubscription=0.001"}),
                HasSubstr("use lower rates"));
}

// A transfer beyond the end of simulated time is an error of the input, not a workload that waits for ever.
TEST_F(CommandLine, RefusesTransfersLongerThanTimeAndLeavesNothing) {
    auto const finished =
        run({"run", "tiny.yaml", "--out", "o", "--set", "workload.operators.dispatch.message_bytes=16777216", "--set",
             "workload.operators.dispatch.efficiency=0.01", "--set", "workload.batch_per_rank=6000", "--set",
             "fabric.single_switch.host_rate=1Mb/s"});
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("53 days"));
    EXPECT_EQ(run({"run", "tiny.yaml", "--out", "o"}).code, 0);  // the corrected command needs no --force
}

TEST_F(CommandLine, CheckWantsAtLeastOneProcess) {
    EXPECT_EQ(run({"check", "tiny.yaml", "--processes", "0"}).code, 2);
}

TEST_F(CommandLine, RefusesWhatIsNotThere) {
    EXPECT_THAT(refusal({"run", "absent.yaml"}), AllOf(HasSubstr("absent.yaml"), HasSubstr("no such file")));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.model=absent.json"}), HasSubstr("no such file"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--set", "workload.epp=4"}),
                AllOf(HasSubstr("--set workload.epp=4"), HasSubstr("did you mean workload.ep?")));
    EXPECT_THAT(refusal({"check", "tiny.yaml", "--set", "fabric.kind=leafspine"}), HasSubstr("leaf_spine"));
}

TEST_F(CommandLine, TellsAllErrorsOfAFileAtOnce) {
    directory_.write("bad.yaml",
                     "name: bad\n"              // 1
                     "fabric:\n"                // 2
                     "  kind: single_switch\n"  // 3
                     "  single_swich:\n"        // 4
                     "    hosts: 8\n"           // 5
                     "workload:\n"              // 6
                     "  model: absent.json\n"   // 7
                     "  ep: eight\n"            // 8
                     "  batch_per_rank: 0\n"    // 9
                     "  context: 1\n"           // 10
                     "  context: 2\n"           // 11
                     "  routing:\n"             // 12
                     "    source: zpif\n");     // 13
    auto const errors = refusal({"run", "bad.yaml"});
    EXPECT_EQ(lines_of(errors).size(), 6U) << errors;
    EXPECT_THAT(errors, HasSubstr("bad.yaml:4:3: fabric.single_swich is unknown"));
    EXPECT_THAT(errors, HasSubstr("did you mean fabric.single_switch?"));
    EXPECT_THAT(errors, HasSubstr("bad.yaml:7:10: workload.model = absent.json (no such file)"));
    EXPECT_THAT(errors, HasSubstr("bad.yaml:8:7: workload.ep = eight"));
    EXPECT_THAT(errors, HasSubstr("bad.yaml:9:19: workload.batch_per_rank = 0"));
    EXPECT_THAT(errors, HasSubstr("bad.yaml:11:3: context is given twice (first on line 10)"));
    EXPECT_THAT(errors, HasSubstr("bad.yaml:13:13: workload.routing.source = zpif"));
    EXPECT_THAT(errors, HasSubstr("did you mean zipf?"));
}

TEST_F(CommandLine, TellsAllProblemsOfAShapeAtOnce) {
    auto const errors = refusal({"run", "tiny.yaml", "--set", "workload.ep=16", "--set", "workload.moe_layers=9",
                                 "--set", "workload.experts.shared=dedicated"});
    EXPECT_THAT(errors, HasSubstr("workload.ep"));
    EXPECT_THAT(errors, HasSubstr("workload.moe_layers"));
    EXPECT_THAT(errors, HasSubstr("workload.experts.shared"));
}

TEST_F(CommandLine, RefusesABadCommandLine) {
    EXPECT_THAT(refusal({}), HasSubstr("--help"));
    EXPECT_THAT(refusal({"runn", "tiny.yaml"}), Not(IsEmpty()));
    EXPECT_THAT(refusal({"run"}), HasSubstr("SCENARIO"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--nope"}), HasSubstr("--nope"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--until", "soon"}), HasSubstr("--until"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--until", "0s"}), HasSubstr("must be positive"));
    EXPECT_THAT(refusal({"run", "tiny.yaml", "--memory-limit", "much"}), HasSubstr("--memory-limit"));
}

TEST_F(CommandLine, LimitsStopWithFour) {
    auto const complete = run({"run", "tiny.yaml", "--out", "whole"});
    ASSERT_EQ(complete.code, 0);
    for (auto const& limit :
         std::vector<std::vector<std::string>>{{"--until", "150us"}, {"--max-events", "50"}, {"--walltime", "1ns"}}) {
        auto const finished = run({"run", "tiny.yaml", "--out", "o", "--force", limit[0], limit[1]});
        EXPECT_EQ(finished.code, 4) << limit[0] << finished.err;
        EXPECT_THAT(finished.err, HasSubstr("Stopped at ")) << limit[0];
        EXPECT_THAT(finished.out, HasSubstr("INCOMPLETE")) << limit[0];
        auto const summary = summary_of(directory_.path() / "o");
        EXPECT_FALSE(summary["complete"].get<bool>());
        auto const& bytes = summary["conservation"];
        EXPECT_EQ(bytes["injected_bytes"].get<std::int64_t>(),
                  bytes["delivered_bytes"].get<std::int64_t>() + bytes["in_flight_bytes"].get<std::int64_t>());
        EXPECT_LT(summary["events"], summary_of(directory_.path() / "whole")["events"]);
        EXPECT_THAT(finished.err, HasSubstr("To go on: orrery resume o\n"));
        EXPECT_NO_THROW(column<std::int64_t>(directory_.path() / "o/run.h5", "operations", "end"));
    }
}

TEST_F(CommandLine, ALimitBeyondTheEndChangesNothing) {
    auto const plain = run({"run", "tiny.yaml", "--out", "a"});
    auto const limited = run({"run", "tiny.yaml", "--out", "b", "--until", "10s", "--walltime", "1000s", "--max-events",
                              "1000000000", "--memory-limit", "64GiB"});
    EXPECT_EQ(limited.code, 0) << limited.err;
    EXPECT_EQ(limited.digest(), plain.digest());
}

TEST_F(CommandLine, OutOfTheMemoryLimitIsFive) {
    auto const finished = run({"run", "tiny.yaml", "--memory-limit", "1MiB"});
    EXPECT_EQ(finished.code, 5);
    EXPECT_THAT(finished.err, HasSubstr("memory"));
}

TEST_F(CommandLine, ASignalStopsWithFourAndLeavesTheTimeline) {
    // Hundreds of layers of heavy exchanges: far longer than the signal takes.
    for (int const signal : {SIGTERM, SIGINT}) {
        Program program({"run", shipped("cloudmatrix384_decode").string(), "--out", "o"}, directory_.path());
        auto const part = directory_.path() / "o/parts/l000.p0000.h5";
        for (int i = 0; i < 600 && !fs::exists(part); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::kill(program.pid(), signal);
        auto const finished = program.wait();
        EXPECT_EQ(finished.code, 4) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr("Stopped at "));
        EXPECT_FALSE(summary_of(directory_.path() / "o")["complete"].get<bool>());
        EXPECT_TRUE(fs::exists(directory_.path() / "o/checkpoints/c000001"));
        fs::remove_all(directory_.path() / "o");
    }
}

TEST_F(CommandLine, WindowAndPartitionNeverChangeTheResult) {
    auto const plain = run({"run", "tiny.yaml", "--out", "a"});
    auto const other = run({"run", "tiny.yaml", "--out", "b", "--window", "700ns", "--partition", "random"});
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.digest(), plain.digest());
    EXPECT_GT(summary_of(directory_.path() / "b")["windows"], summary_of(directory_.path() / "a")["windows"]);
}

TEST_F(CommandLine, ProgressLinesGoToStderr) {
    auto const finished = run({"run", "tiny.yaml", "--progress"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.err, HasSubstr("tiny: 8 ranks on single_switch, 1 process"));
    EXPECT_THAT(finished.out, Not(HasSubstr("ETA")));
}

TEST_F(CommandLine, CheckPrintsWhatTheScenarioMeansAndSimulatesNothing) {
    auto const before = directory_.entries();
    auto const finished = run({"check", "tiny.yaml", "--processes", "3"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(directory_.entries(), before);
    EXPECT_THAT(finished.out, HasSubstr("# resolved scenario"));
    EXPECT_THAT(finished.out, ContainsRegex("host_rate: 400 ?Gb/s"));  // a default, with its unit
    EXPECT_THAT(finished.out, HasSubstr("# fabric single_switch"));
    EXPECT_THAT(finished.out, HasSubstr("ranks 8, switches 1, other nodes 0, links 16"));
    EXPECT_THAT(finished.out, HasSubstr("bisection 200 GB/s"));
    EXPECT_THAT(finished.out, HasSubstr("diameter 2 hops"));
    EXPECT_THAT(finished.out, HasSubstr("shortest paths"));
    EXPECT_THAT(finished.out, HasSubstr("# partition over 3 processes"));
    EXPECT_THAT(finished.out, HasSubstr("imbalance"));
    EXPECT_THAT(finished.out, HasSubstr("edges cut"));
    EXPECT_THAT(finished.out, HasSubstr("lookahead limited by"));
    EXPECT_THAT(finished.out, ContainsRegex("flows [0-9]+, events [0-9]+, operation rows [0-9]+, memory "));
    EXPECT_THAT(finished.out, HasSubstr("# streaming\nrows in memory: at most "));
    EXPECT_THAT(finished.out, HasSubstr("at the end only: 64 rows of expert loads; 512 B of counters"));
    EXPECT_THAT(finished.out, HasSubstr("at the end only: up to 56 rows of pairs;"));
    EXPECT_THAT(finished.out, Not(HasSubstr("digest: ")));
}

TEST_F(CommandLine, CheckOfTheMainMachineCountsItsTiers) {
    auto const finished = run({"check", shipped("cloudmatrix384_decode").string(), "--processes", "2"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("oversubscription"));
    EXPECT_THAT(finished.out, ContainsRegex("ub.die-l1.up +5376 links of 28 GB/s"));
    EXPECT_THAT(finished.out, ContainsRegex(" 112 shortest paths"));
    EXPECT_THAT(finished.out, HasSubstr("320"));
}

TEST_F(CommandLine, TheResolvedScenarioIsTheSameScenario) {
    auto const text = run({"check", "tiny.yaml"}).out;
    auto const from = text.find("# resolved scenario\n") + 20, to = text.find("\n# fabric ");
    directory_.write("again.yaml", text.substr(from, to - from));
    auto const first = run({"run", "tiny.yaml", "--out", "a"}), again = run({"run", "again.yaml", "--out", "b"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(first.digest(), again.digest());
}

TEST_F(CommandLine, CheckListsLinksForDegrade) {
    auto const lines = run({"check", "tiny.yaml", "--links"}).screen();
    ASSERT_EQ(lines.size(), 16U);
    EXPECT_EQ(lines[0], "h0-switch.up 50 GB/s 500 ns");
    EXPECT_EQ(lines[15], "h7-switch.down 50 GB/s 500 ns");
}

TEST_F(CommandLine, HelpHasExamplesAndVersionNamesTheBuild) {
    auto const help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("orrery run scenarios/"), HasSubstr("mpirun -n"), HasSubstr("Exit codes")));
    for (auto const* command : {"run", "check", "verify", "doctor", "reference"})
        EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_THAT(run({"run", "--help"}).out, HasSubstr("--memory-limit"));
    auto const version = run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, ContainsRegex("^orrery [0-9]+\\.[0-9]+\\.[0-9]+ \\(.+\\)"));
}

TEST_F(CommandLine, DoctorFindsAWorkingMachine) {
    auto const finished = run({"doctor"});
    EXPECT_EQ(finished.code, 0) << finished.out;
    EXPECT_LT(finished.seconds, 10);  // a second or two when the machine is idle
    EXPECT_THAT(finished.out, Not(HasSubstr("FAIL")));
    for (auto const* subject : {"MPI", "mpirun", "cores", "scratch", "HDF5"})
        EXPECT_THAT(finished.out, HasSubstr(subject));
    EXPECT_THAT(directory_.entries(), ElementsAre("tiny.json", "tiny.yaml"));
}

TEST_F(CommandLine, ReferenceDescribesTheSchema) {
    auto const finished = run({"reference"});
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.out, HasSubstr("zipf_s"));
}

// Under mpirun: all processes leave alike, one of them speaks.
TEST_F(CommandLine, ManyProcessesRefuseOnce) {
    std::vector<std::string> const launch{ORRERY_MPIEXEC, "-n", "3"};
    auto const refused = orrery({"run", "tiny.yaml", "--set", "workload.ep=5"}, directory_.path(), launch);
    EXPECT_EQ(refused.code, 2);
    auto const first = refused.err.find("do not divide");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(refused.err.find("do not divide", first + 1), std::string::npos);
    auto const stopped = orrery({"run", "tiny.yaml", "--max-events", "50"}, directory_.path(), launch);
    EXPECT_EQ(stopped.code, 4);
    EXPECT_EQ(summary_of(directory_.path() / "tiny.out")["processes"], 3);
    auto const resumed = orrery({"resume", "tiny.out"}, directory_.path());
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.digest(), orrery({"run", "tiny.yaml", "--out", "whole"}, directory_.path()).digest());
    auto const out_of_memory =
        orrery({"run", "tiny.yaml", "--force", "--memory-limit", "1MiB"}, directory_.path(), launch);
    EXPECT_EQ(out_of_memory.code, 5);
}

}  // namespace
}  // namespace orrery::testing
