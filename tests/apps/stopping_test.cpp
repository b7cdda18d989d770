// SPDX-License-Identifier: Apache-2.0
// A run ends when it was told to, whoever says so and in whatever state the other processes are.
#include "apps/run/deadline.hpp"
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-more-matchers.h>

#include <csignal>
#include <ctime>
#include <thread>

namespace orrery::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StoppingDeadline, ReadsTimesAsSlurmWritesThem) {
    auto const seconds = [](char const* text) { return parse_walltime("--walltime", text); };
    EXPECT_EQ(seconds("90s"), 90);
    EXPECT_EQ(seconds("1500ms"), 1.5);
    EXPECT_EQ(seconds("02:30"), 150);
    EXPECT_EQ(seconds("01:00:10"), 3'610);
    EXPECT_EQ(seconds("2-01:00:00"), 2 * 86'400 + 3'600);
    for (auto const* wrong : {"", "soon", "10", "1:2:3:4", "-1:00", "1::2", "0s", "00:00", "1:-2"})
        EXPECT_THROW(seconds(wrong), InputError) << wrong;
}

TEST(StoppingDeadline, LeavesTimeForWritingAndForTwoLongWindows) {
    Deadline deadline(100, 1);
    deadline.window_begins(0);
    deadline.window_ended(2);
    EXPECT_DOUBLE_EQ(deadline.margin(8, 1), 1 + 12 + 4);
    EXPECT_FALSE(deadline.due(82, 8, 1));
    EXPECT_TRUE(deadline.due(84, 8, 1));
    EXPECT_DOUBLE_EQ(deadline.margin(8, 2), 2 * 13 + 4);  // on a core shared with somebody else
    deadline.window_begins(2);
    deadline.window_ended(62);  // the machine stood still: at most an eighth of the time
    EXPECT_DOUBLE_EQ(deadline.margin(8, 1), 1 + 12 + 12.5);
    EXPECT_FALSE(Deadline({}, 1).due(1e9, 1e9, 1));
}

// Sixty-four ranks and ten thousand layers: minutes of work.
class Stopping : public ::testing::Test {
  protected:
    Stopping() {
        auto model = tiny_model;
        auto const layers = model.find(": 3,");
        model.replace(layers, 4, ": 10000,");
        directory_.write("long.json", model);
        auto scenario = tiny_scenario("  ep_groups: 8\n  microbatches: 4\n");
        scenario.replace(scenario.find("hosts: 8"), 8, "hosts: 64");
        scenario.replace(scenario.find("tiny.json"), 9, "long.json");
        directory_.write("long.yaml", scenario);
    }
    ~Stopping() override {
        ::unsetenv("SLURM_JOB_END_TIME");
        ::unsetenv("SLURM_JOB_ID");
    }
    // Started, and seen to have begun simulating.
    std::unique_ptr<Program> start(std::vector<std::string> more, int processes = 1,
                                   std::vector<std::string> launcher = {ORRERY_MPIEXEC}) {
        fs::remove_all(directory_.path() / "o");  // or the parts of an earlier run would look like those of this one
        std::vector<std::string> arguments{"run", "long.yaml", "--out", "o"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        if (processes > 1)
            launcher.insert(launcher.end(), {"-n", std::to_string(processes)});
        else
            launcher.clear();
        auto program = std::make_unique<Program>(arguments, directory_.path(), launcher);
        auto const last = directory_.path() / "o/parts" / fmt::format("l000.p{:04}.h5", processes - 1);
        for (int i = 0; i < 600 && !fs::exists(last); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return program;
    }
    // The processes that mpirun has started, not itself.
    static std::vector<pid_t> children_of(pid_t parent) {
        std::vector<pid_t> children;
        std::istringstream list(read_text(fmt::format("/proc/{0}/task/{0}/children", parent)));
        for (pid_t child = 0; list >> child;) children.push_back(child);
        return children;
    }
    double end_of_run(Finished const& finished) {
        EXPECT_EQ(finished.code, 4) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr("Stopped at "));
        auto const summary = summary_of(directory_.path() / "o");
        EXPECT_FALSE(summary["complete"].get<bool>());
        EXPECT_GT(summary["events"].get<std::int64_t>(), 0);
        return finished.seconds;
    }

    TempDirectory directory_;
};
class StoppingByTime : public Stopping {};
class StoppingBySignal : public Stopping {};
class StoppingOfHung : public Stopping {};

TEST_F(StoppingByTime, EndsByItsWalltime) {
    EXPECT_LT(end_of_run(start({"--walltime", "4s"})->wait()), 4);
    EXPECT_LT(end_of_run(start({"--walltime", "00:00:06"}, 2)->wait()), 6);
}

TEST_F(StoppingByTime, KnowsTheEndOfItsSlurmJob) {
    ::setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 4).c_str(), 1);
    EXPECT_LT(end_of_run(start({"--walltime", "1:00:00"})->wait()), 5);  // whole seconds
    ::unsetenv("SLURM_JOB_END_TIME");
    // Older versions do not tell: squeue is asked.
    auto const squeue =
        directory_.write("squeue",
                         "#!/bin/sh\n[ \"$SLURM_TIME_FORMAT $*\" = '%s --noheader --jobs=12 --format=%e' ] && "
                         "echo $(($(date +%s) + 4))\n");
    fs::permissions(squeue, fs::perms::owner_all);
    ::setenv("SLURM_JOB_ID", "12", 1);
    std::string const path = std::getenv("PATH");
    ::setenv("PATH", (directory_.path().string() + ":" + path).c_str(), 1);
    EXPECT_LT(end_of_run(start({})->wait()), 5);
    ::setenv("PATH", path.c_str(), 1);
}

TEST_F(StoppingBySignal, SignalsToOneProcessStopAll) {
    for (int const signal : {SIGTERM, SIGINT}) {
        auto const program = start({}, 3);
        auto const processes = children_of(program->pid());
        ASSERT_EQ(processes.size(), 3U);
        auto const sent = std::chrono::steady_clock::now();
        ::kill(processes[2], signal);
        end_of_run(program->wait());
        EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - sent).count(), 5);
    }
}

// mpirun itself would kill them within a second or two.
TEST_F(StoppingBySignal, TheWrapperOfMpirunLetsThemStop) {
    auto const program = start({}, 2, {std::string(ORRERY_SOURCE_DIR) + "/scripts/mpirun.sh"});
    ::kill(program->pid(), SIGTERM);
    end_of_run(program->wait());
}

TEST_F(StoppingBySignal, ASecondInterruptEndsAtOnce) {
    auto const program = start({});
    ::kill(program->pid(), SIGSTOP);  // so that both come before the end of a window
    ::kill(program->pid(), SIGINT);
    ::kill(program->pid(), SIGCONT);
    for (int i = 0; i < 1000 && ::kill(program->pid(), SIGINT) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (i % 10 == 9) ::kill(program->pid(), SIGINT);
    }
    EXPECT_EQ(program->wait().code, 128 + SIGINT);
}

TEST_F(StoppingBySignal, AStatusNamesEveryProcessOnceAndTheRunGoesOn) {
    auto const program = start({"--quiet"}, 2);
    ::kill(program->pid(), SIGUSR2);  // mpirun hands it to both
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    ::kill(children_of(program->pid()).at(0), SIGTERM);
    auto const finished = program->wait();
    end_of_run(finished);
    auto const first = finished.err.find("status: simulated ");
    ASSERT_NE(first, std::string::npos) << finished.err;
    EXPECT_EQ(finished.err.find("status: simulated ", first + 1), std::string::npos);
    EXPECT_THAT(finished.err, ContainsRegex("events/s +ETA [0-9]+ s +imbalance [0-9.]+ +waiting [0-9]+ %"));
    EXPECT_THAT(finished.err, ContainsRegex("\n +0 +[0-9]+ .*\n +1 +[0-9]+ "));
}

TEST_F(StoppingOfHung, ADeadProcessEndsTheOthersSoon) {
    auto const program = start({}, 3);
    auto const killed = std::chrono::steady_clock::now();
    ::kill(children_of(program->pid()).at(1), SIGKILL);
    auto const finished = program->wait();
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - killed).count(), 5);
    EXPECT_NE(finished.code, 0);
    EXPECT_THAT(finished.err, HasSubstr("Killed"));
}

TEST_F(StoppingOfHung, AHungProcessEndsTheOthersWithItsNumber) {
    auto const program = start({"--hang-limit", "2s"}, 3);
    auto const stopped = std::chrono::steady_clock::now();
    ::kill(children_of(program->pid()).at(1), SIGSTOP);
    auto const finished = program->wait();
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - stopped).count(), 7);
    EXPECT_EQ(finished.code, 1);
    EXPECT_THAT(finished.err, ContainsRegex("of 3 has heard nothing from process 1 for 2[.0-9]* s .it died or hangs"));
}

// Nearly every packet of one link is lost and sent again.
TEST_F(StoppingOfHung, EventsThatComeToNothingAreALivelock) {
    directory_.write("tiny.json", tiny_model);
    directory_.write("tiny.yaml", tiny_scenario());
    std::vector<std::string> const arguments{"run",
                                             "tiny.yaml",
                                             "--out",
                                             "t",
                                             "--force",
                                             "--stall-limit",
                                             "20ms",
                                             "--set",
                                             "network.model=packet",
                                             "--set",
                                             "network.packet.transport=window",
                                             "--set",
                                             "network.packet.losses=[{links: h0-switch.up, probability: 0.99}]"};
    for (auto const& launcher : std::vector<std::vector<std::string>>{{}, {ORRERY_MPIEXEC, "-n", "2"}}) {
        auto const finished = orrery(arguments, directory_.path(), launcher);
        EXPECT_EQ(finished.code, 3) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr("no operation has ended for"));
        EXPECT_THAT(finished.err, ContainsRegex("rank [0-9]+ is in dispatch of layer 1"));
    }
}

}  // namespace
}  // namespace orrery::testing
