// SPDX-License-Identifier: Apache-2.0
// A run that goes on from a checkpoint ends as if it had never stopped: whatever saved it, whatever takes it up.
#include "core/random.hpp"
#include "tests/apps/checkpoint_testing.hpp"

namespace orrery::testing {
namespace {

struct Network {
    char const* name;
    std::vector<std::string> sets;
};

void PrintTo(Network const& network, std::ostream* out) {
    *out << network.name;
}

std::vector<Network> networks() {
    return {{"exact", {"network.flow.error=exact"}},
            {"within", {"network.flow.error=2%"}},
            {"delayed", {"network.flow.sharing=delayed"}},
            {"slow_start", {"network.flow.initial_window=16384"}},
            {"pull", {"workload.operators.variant=pull"}},
            {"analytic", {"network.model=analytic"}},
            {"packet", {"network.model=packet"}},
            {"dcqcn",
             {"network.model=packet", "network.packet.transport=dcqcn", "network.packet.lossless=pfc",
              "network.packet.port_buffer=1MiB"}}};
}

class CheckpointOf : public ::testing::TestWithParam<Network> {
  protected:
    TinyDirectory const directory_{"  microbatches: 2\n"};
    Job const job_ = make_job(directory_.scenario, GetParam().sets);
    DryEnd const whole_ = dry_run(job_, {});

    void expect_whole(DryEnd const& end, std::string const& what) const {
        EXPECT_EQ(end.digest, whole_.digest) << what;
        EXPECT_EQ(end.unfinished, 0) << what;
        EXPECT_EQ(end.flows, whole_.flows) << what;
        EXPECT_EQ(end.outcome.events, whole_.outcome.events) << what;
        EXPECT_EQ(end.outcome.last, whole_.outcome.last) << what;
        EXPECT_TRUE(row_words(end.rows) == row_words(whole_.rows)) << what;
    }
};

TEST_P(CheckpointOf, ChangesNothingAndRestartsOnAnyNumberOfProcesses) {
    ASSERT_EQ(whole_.unfinished, 0);
    ASSERT_GT(whole_.outcome.windows, 20);
    for (std::int64_t const every : {std::int64_t{1}, std::int64_t{7}, whole_.outcome.windows / 2, std::int64_t{5000}})
        for (std::uint32_t const processes : {1U, 2U, 4U}) {
            auto const text = fmt::format("every {} windows, {} processes", every, processes);
            auto const saving = dry_run(job_, {.processes = processes, .every_windows = every});
            expect_whole(saving, text);
            EXPECT_EQ(saving.checkpoints, (whole_.outcome.windows - 1) / every) << text;
            if (saving.checkpoints == 0) continue;
            for (std::uint32_t const others : {1U, 2U, 3U, 4U, 7U}) {
                auto from = saving.last;
                expect_whole(
                    dry_run(job_, {.processes = others, .partition = others % 2 == 0 ? "random" : "blocks"}, &from),
                    fmt::format("{}, on {}", text, others));
            }
        }
}

// Every restart may be the last: a checkpoint of a resumed run is as good as the first.
TEST_P(CheckpointOf, ChainsOfStopsEndAsOneRun) {
    constexpr int legs = 10;
    auto const length = whole_.outcome.last;
    Saved from;
    DryEnd end;
    for (int leg = 1; leg <= legs; ++leg) {
        auto const until = leg == legs ? Time::infinity() : Time::from_ps(length.ps() / legs * leg);
        std::uint32_t const processes = 1 + static_cast<std::uint32_t>(leg) % 4;
        end = dry_run(job_, {.processes = processes, .until = until}, leg == 1 ? nullptr : &from);
        from = end.stopped;
    }
    expect_whole(end, "ten legs");
}

// Thousands of windows, and a network of leaves and spines.
TEST(Checkpoint, ManyWindowsRestartOnAnyNumberOfProcesses) {
    auto const job = make_job(shipped("leaf_spine_prefill"), {"workload.moe_layers=3"});
    auto const whole = dry_run(job, {});
    ASSERT_GT(whole.outcome.windows, 5'000);
    for (std::int64_t const every : {1, 7, 500, 5'000})
        for (std::uint32_t const processes : {1U, 2U, 4U}) {
            auto saving = dry_run(job, {.processes = processes, .every_windows = every});
            EXPECT_EQ(saving.digest, whole.digest);
            EXPECT_EQ(saving.checkpoints, (whole.outcome.windows - 1) / every);
            auto const others = std::array{7U, 3U, 2U}[processes / 2];
            auto const end = dry_run(job, {.processes = others, .partition = "random"}, &saving.last);
            EXPECT_EQ(end.digest, whole.digest) << every << " windows, " << processes << " on " << others;
            EXPECT_TRUE(row_words(end.rows) == row_words(whole.rows));
        }
}

TEST(Checkpoint, TwoHundredLegsEndAsOneRun) {
    TinyDirectory const directory{"  microbatches: 2\n"};
    auto const job = make_job(directory.scenario);
    auto const whole = dry_run(job, {});
    Saved from;
    DryEnd end;
    constexpr int legs = 200;
    for (int leg = 1; leg <= legs; ++leg) {
        auto const until = leg == legs ? Time::infinity() : Time::from_ps(whole.outcome.last.ps() / legs * leg);
        end = dry_run(job, {.processes = 1 + static_cast<std::uint32_t>(leg) % 3, .until = until},
                      leg == 1 ? nullptr : &from);
        from = end.stopped;
    }
    EXPECT_EQ(end.digest, whole.digest);
    EXPECT_TRUE(row_words(end.rows) == row_words(whole.rows));
}

// Any moment will do, and any width of windows on either side of it.
TEST_P(CheckpointOf, StopsAtAnyTime) {
    auto const length = whole_.outcome.last.ps();
    RandomSequence draws(1, RandomStream::test, 5);
    for (int i = 0; i < 12; ++i) {
        auto const until =
            Time::from_ps(1 + static_cast<std::int64_t>(draws.below(static_cast<std::uint32_t>(length / 1000))) * 1000);
        auto from =
            dry_run(job_, {.width = Time::from_ps(job_.lookahead().ps() / (1 + i % 3)), .until = until}).stopped;
        auto const end =
            dry_run(job_, {.processes = 2, .width = Time::from_ps(job_.lookahead().ps() / (1 + i % 2))}, &from);
        expect_whole(end, to_string(until));
    }
}

INSTANTIATE_TEST_SUITE_P(EveryNetwork, CheckpointOf, ::testing::ValuesIn(networks()),
                         [](auto const& network) { return network.param.name; });

}  // namespace
}  // namespace orrery::testing
