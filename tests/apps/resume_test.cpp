// SPDX-License-Identifier: Apache-2.0
// The program itself, stopped or killed and resumed: same digest, same file; damaged and foreign checkpoints by name.
#include "core/random.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/timeline/compare.hpp"
#include "tests/apps/checkpoint_testing.hpp"

#include <gmock/gmock.h>

namespace orrery::testing {
namespace {

using ::testing::HasSubstr;

class Resume : public ::testing::Test {
  protected:
    TinyDirectory directory_{"  microbatches: 2\n"};

    fs::path path(std::string const& name) const { return directory_.path() / name; }
    Finished run(std::vector<std::string> arguments, std::uint32_t processes = 1) const {
        std::vector<std::string> launcher;
        if (processes > 1) launcher = {ORRERY_MPIEXEC, "-n", std::to_string(processes)};
        return orrery(std::move(arguments), directory_.path(), launcher);
    }
    std::string whole() const {
        auto const finished = run({"run", "tiny.yaml", "--out", "whole"});
        EXPECT_EQ(finished.code, 0) << finished.err;
        return finished.digest();
    }
    // Two checkpoints are left.
    void stop(std::string const& out, std::uint32_t processes = 1) const {
        auto const stopped =
            run({"run", "tiny.yaml", "--out", out, "--until", "150us", "--checkpoint-windows", "5"}, processes);
        ASSERT_EQ(stopped.code, 4) << stopped.err;
        ASSERT_EQ(published_checkpoints(path(out)).size(), 2U);
    }
    // At most for a while: who waits says what became of the program.
    void wait_for_checkpoint(std::uint32_t number) const {
        for (int i = 0; i < 20'000; ++i) {
            auto const all = published_checkpoints(path("k"));
            if (all.empty() || all.front() >= number) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    fs::path newest(std::string const& out) const {
        return checkpoints_of(path(out)) / checkpoint_name(published_checkpoints(path(out)).front());
    }
};

TEST_F(Resume, EndsWithTheFileOfTheUninterruptedRun) {
    auto const digest = whole();
    stop("a", 3);
    auto const again = run({"resume", "a", "--until", "250us", "--partition", "random"}, 2);
    EXPECT_EQ(again.code, 4) << again.err;
    EXPECT_THAT(again.err, HasSubstr("To go on: orrery resume a\n"));
    auto const finished = run({"resume", "a", "--checkpoint-every", "50us"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.digest(), digest);
    EXPECT_EQ(content_difference(path("a/run.h5"), path("whole/run.h5")), "");
    EXPECT_EQ(summary_of(path("a"))["events"], summary_of(path("whole"))["events"]);
    EXPECT_FALSE(fs::exists(path("a/parts")));
    EXPECT_FALSE(fs::exists(path("a/checkpoints")));
    auto const over = run({"resume", "a"});
    EXPECT_EQ(over.code, 2);
    EXPECT_THAT(over.err, HasSubstr("a has no checkpoint"));
}

// Any process may meet the end of its life in any state; what was published before is what counts.
TEST_F(Resume, GoesOnAfterAKill) {
    auto const digest = whole();
    for (std::uint32_t const ahead : {3U, 10U}) {
        stop("k");
        // What a leg leaves that dies before its first checkpoint: parts, and a checkpoint that was not finished.
        fs::copy(path("k/parts/l000.p0000.h5"), path("k/parts/l001.p0000.h5"));
        fs::copy(path("k/parts/l000.p0000.h5"), path("k/parts/l001.p0003.h5"));
        fs::create_directories(path("k/checkpoints/c000099.tmp"));
        auto const first = published_checkpoints(path("k")).front();
        Program program({"resume", "k", "--window", "100ns", "--checkpoint-windows", "1"}, directory_.path());
        wait_for_checkpoint(first + ahead);
        ::kill(program.pid(), SIGKILL);
        auto const killed = program.wait();
        EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
        auto const finished = run({"resume", "k"}, 2);
        EXPECT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(finished.digest(), digest);
        EXPECT_EQ(content_difference(path("k/run.h5"), path("whole/run.h5")), "");
        fs::remove_all(path("k"));
    }
}

// A checkpoint says nothing of the end of the run: what is recovered behind it is a prefix.
TEST_F(Resume, ARunKilledBehindACheckpointIsRecoveredUpToIt) {
    whole();
    stop("k");
    auto const first = published_checkpoints(path("k")).front();
    Program program({"resume", "k", "--window", "100ns", "--checkpoint-windows", "1"}, directory_.path());
    wait_for_checkpoint(first + 20);
    ::kill(program.pid(), SIGKILL);
    auto const killed = program.wait();
    EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
    auto const recovered = run({"recover", "k"});
    EXPECT_EQ(recovered.code, 0) << recovered.err;
    EXPECT_THAT(recovered.out, HasSubstr("complete up to simulated time"));
    EXPECT_THAT(recovered.out, HasSubstr("(leg 1, 1 process)"));
    EXPECT_EQ(prefix_difference(path("k/recovered.h5"), path("whole/run.h5")), "");
    EXPECT_GT(column<std::int64_t>(path("k/recovered.h5"), "operations", "end").size(), 10U);
}

TEST_F(Resume, TakesTheOlderCheckpointWhenTheNewestIsDamagedAndSaysSo) {
    auto const digest = whole();
    stop("a");
    auto const state = newest("a") / "p0000.state";
    auto const length = fs::file_size(state);
    fs::resize_file(state, length - 1);
    // It takes checkpoints of its own, over the numbers of those behind it.
    auto const finished = run({"resume", "a", "--checkpoint-windows", "1"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.digest(), digest);
    EXPECT_THAT(finished.err,
                HasSubstr(fmt::format("p0000.state ({} bytes where {} were written)", length - 1, length)));
    EXPECT_THAT(finished.err, HasSubstr("resuming from a/checkpoints/c0000"));
}

TEST_F(Resume, RefusesDamagedCheckpointsByName) {
    stop("a", 2);
    fs::remove_all(checkpoints_of(path("a")) / checkpoint_name(published_checkpoints(path("a")).back()));
    auto const folder = newest("a");
    auto const refused = [&](std::string const& file, std::string const& reason) {
        for (std::uint32_t const processes : {1U, 2U}) {
            auto const finished = run({"resume", "a"}, processes);
            EXPECT_EQ(finished.code, 2);
            EXPECT_THAT(finished.err, HasSubstr(file));
            EXPECT_THAT(finished.err, HasSubstr(reason));
        }
    };
    for (auto const* name : {"p0000.state", "p0001.state", "manifest.json"}) {
        auto const text = read_text(folder / name);
        RandomSequence draws(1, RandomStream::test, text.size());
        for (int i = 0; i < 3; ++i) {
            auto flipped = text;
            auto& byte = flipped[draws.below(static_cast<std::uint32_t>(text.size()))];
            byte = static_cast<char>(byte ^ (1 << draws.below(7)));
            if (byte == ' ' || byte == '\n') continue;  // between the words of a manifest they mean the same
            std::ofstream(folder / name, std::ios::binary) << flipped;
            refused(name, "cannot use");
        }
        std::ofstream(folder / name, std::ios::binary) << text.substr(0, text.size() / 2);
        refused(name, "cannot use");
        fs::remove(folder / name);
        refused(name, "");
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    EXPECT_EQ(run({"resume", "a", "--quiet"}).code, 0);
}

TEST_F(Resume, RefusesForeignCheckpointsAndChangedInputs) {
    stop("a");
    stop("b");
    auto const other = run({"run", "tiny.yaml", "--set", "workload.context=2048", "--out", "c", "--until", "150us"});
    ASSERT_EQ(other.code, 4);
    fs::remove_all(path("a/checkpoints"));
    fs::copy(path("c/checkpoints"), path("a/checkpoints"), fs::copy_options::recursive);
    auto const foreign = run({"resume", "a"});
    EXPECT_EQ(foreign.code, 2);
    EXPECT_THAT(foreign.err, HasSubstr("a/checkpoints/c000001 (its scenario is not that of a/parts/about.h5"));
    EXPECT_THAT(foreign.err, HasSubstr("context: 2048"));
    EXPECT_THAT(foreign.err, HasSubstr("context: 1024"));

    directory_.write("tiny.json", tiny_model + " ");
    auto const changed = run({"resume", "b"});
    EXPECT_EQ(changed.code, 2);
    EXPECT_THAT(changed.err, HasSubstr("tiny.json has changed since"));
    directory_.write("tiny.json", tiny_model);

    fs::remove(path("b/parts/l000.p0000.h5"));
    auto const missing = run({"resume", "b"});
    EXPECT_EQ(missing.code, 2);
    EXPECT_THAT(missing.err, HasSubstr("b/parts/l000.p0000.h5"));
}

// A byte behind the end of an executable changes nothing that it does, but it is another program.
TEST_F(Resume, RefusesACheckpointOfAnotherProgram) {
    stop("a");
    fs::copy(ORRERY_PROGRAM, path("other"));
    std::ofstream(path("other"), std::ios::binary | std::ios::app) << '.';
    // `launcher`: the shell that puts the other program in place of the one that would be started.
    auto const refused =
        orrery({"resume", "a"}, directory_.path(), {"/bin/sh", "-c", "shift; exec ./other \"$@\"", "sh"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("a/checkpoints/c0000"));
    EXPECT_THAT(refused.err, HasSubstr("resume with the program that wrote it"));
}

TEST_F(Resume, ARunDoesNotReplaceOneThatCanGoOn) {
    stop("a");
    auto const refused = run({"run", "tiny.yaml", "--out", "a"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("or go on with orrery resume a"));
    EXPECT_EQ(run({"run", "tiny.yaml", "--out", "a", "--force", "--quiet"}).code, 0);
    EXPECT_FALSE(fs::exists(path("a/checkpoints")));
}

TEST_F(Resume, SomethingThatIsNoRunIsRefused) {
    EXPECT_EQ(run({"resume", "nowhere"}).code, 2);
    EXPECT_THAT(run({"resume", "nowhere"}).err, HasSubstr("nowhere has no checkpoint"));
}

}  // namespace
}  // namespace orrery::testing
