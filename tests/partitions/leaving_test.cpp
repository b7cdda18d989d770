// SPDX-License-Identifier: Apache-2.0
// Errors and flags of one process end the run of all, at the same window and for the same reason.
#include "partitions/dry_run_exchange.hpp"
#include "tests/core/simple_lp.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace orrery {
namespace {

using namespace literals;
using test::SimpleLp;

// LP i ticks every microsecond and fails at its own time, if it has one.
struct Ring {
    explicit Ring(std::uint32_t processes, std::vector<Time> fail_at = {}) : dry_run(processes) {
        std::vector<std::uint32_t> owner;
        std::vector<std::vector<LocalLp>> local(processes);
        for (std::uint32_t i = 0; i < 6; ++i) {
            Time const fail = i < fail_at.size() ? fail_at[i] : Time::infinity();
            lps.push_back(std::make_unique<SimpleLp>([i](Outbox& out) { out.send(LpId((i + 1) % 6), 1_us, 0, {}); },
                                                     [i, fail](Event const& event, Outbox& out) {
                                                         if (event.when >= fail)
                                                             throw InputError("LP " + std::to_string(i) + " fails");
                                                         out.send(LpId((i + 1) % 6), event.when + 1_us, 0, {});
                                                     }));
            owner.push_back(i % processes);
            local[owner.back()].push_back({LpId(i), lps.back().get()});
        }
        WindowOptions options;
        options.lookahead = 1_us;
        for (std::uint32_t p = 0; p < processes; ++p)
            loops.push_back(std::make_unique<WindowLoop>(options, local[p], owner, dry_run.exchange(p),
                                                         p + 1 == processes ? hook : nullptr));
    }

    // The message with which each process leaves, after stepping all of them equally often.
    std::vector<std::string> messages() {
        for (auto const& loop : loops) loop->begin();
        std::vector<std::string> result;
        for (int round = 0; round < 100 && result.empty(); ++round)
            for (auto const& loop : loops) try {
                    EXPECT_TRUE(loop->advance());
                } catch (InputError const& error) {
                    result.emplace_back(error.what());
                }
        return result;
    }

    static inline WindowHook* hook = nullptr;
    DryRun dry_run;
    std::vector<std::unique_ptr<SimpleLp>> lps;
    std::vector<std::unique_ptr<WindowLoop>> loops;
};

TEST(Leaving, OneFailureEndsAllWithItsMessage) {
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U})
        EXPECT_EQ(Ring(processes, {Time::infinity(), Time::infinity(), Time::infinity(), 9_us}).messages(),
                  std::vector<std::string>(processes, "LP 3 fails"));
}

TEST(Leaving, OfSeveralFailuresTheEarliestIsToldForEveryProcessCount) {
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U}) {
        auto const inf = Time::infinity();
        EXPECT_EQ(Ring(processes, {inf, 9_us, inf, inf, 8_us, 8_us}).messages(),
                  std::vector<std::string>(processes, "LP 4 fails"));
    }
}

class StopAtWindow final : public WindowHook {
  public:
    Request at_window(WindowStatus const& status) override { return {status.windows == 4 ? window_flag::stop : 0, 0}; }
};

class ThrowingHook final : public WindowHook {
  public:
    Request at_window(WindowStatus const& status) override {
        if (status.windows == 4) throw InputError("the disk is full");
        return {};
    }
};

TEST(Leaving, TheFlagOfOneProcessStopsAllAfterTheSameWindow) {
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U}) {
        StopAtWindow hook;
        Ring::hook = &hook;  // on the last process, which is empty when there are seven
        Ring ring(processes);
        Ring::hook = nullptr;
        for (auto const& outcome : ring.dry_run.run<WindowLoop>(ring.loops)) {
            EXPECT_EQ(outcome.reason, StopReason::stop);
            EXPECT_EQ(outcome.windows, 4);
            EXPECT_EQ(outcome.events, 24);
        }
    }
}

TEST(Leaving, AnErrorInTheHookOfOneProcessEndsAll) {
    for (std::uint32_t const processes : {1U, 3U, 7U}) {
        ThrowingHook hook;
        Ring::hook = &hook;
        Ring ring(processes);
        Ring::hook = nullptr;
        EXPECT_EQ(ring.messages(), std::vector<std::string>(processes, "the disk is full"));
    }
}

TEST(DryRun, RefusesToCollectBeforeAllHavePosted) {
    DryRun dry_run(2);
    std::vector<std::vector<Event>> outgoing(2);
    std::vector<Event> arrivals;
    WindowReport all;
    Failure failure;
    dry_run.exchange(0).post({}, outgoing, failure);
    EXPECT_THROW(dry_run.exchange(0).collect(all, arrivals, failure), InternalError);
}

}  // namespace
}  // namespace orrery
