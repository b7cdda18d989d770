// SPDX-License-Identifier: Apache-2.0
#include "core/window_loop.hpp"

#include "tests/core/contains.hpp"
#include "tests/core/simple_lp.hpp"

#include <gtest/gtest.h>

#include <new>

namespace orrery {
namespace {

using namespace literals;
using test::contains;
using test::nothing;
using test::SimpleLp;

std::vector<std::uint32_t> const two_on_one = {0, 0};

WindowOptions options(Time lookahead) {
    WindowOptions result;
    result.lookahead = lookahead;
    return result;
}

RunOutcome run(WindowOptions const& with, SimpleLp& a, SimpleLp& b, WindowHook* hook = nullptr) {
    LocalExchange alone;
    return WindowLoop(with, {{LpId(0), &a}, {LpId(1), &b}}, two_on_one, alone, hook).run();
}

template <class Error>
std::string message_of(WindowOptions const& with, SimpleLp& a, SimpleLp& b) {
    try {
        run(with, a, b);
    } catch (Error const& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(WindowLoop, EndsAtOnceWithoutEvents) {
    SimpleLp a(nothing), b(nothing);
    auto const outcome = run(options(1_us), a, b);
    EXPECT_EQ(outcome.reason, StopReason::finished);
    EXPECT_EQ(outcome.windows, 0);
    EXPECT_EQ(outcome.events, 0);
}

TEST(WindowLoop, DeliversWhatWasSentWithItsStamp) {
    SimpleLp a([](Outbox& out) {
        out.schedule(10_ns, 4, {1});
        out.send(LpId(1), 1_us, 7, {11, 22, 33, 44, 55});
    });
    SimpleLp b(nothing);
    auto const outcome = run(options(1_us), a, b);
    ASSERT_EQ(b.handled.size(), 1U);
    auto const& event = b.handled[0];
    EXPECT_EQ(event.when, 1_us);
    EXPECT_EQ(event.source, LpId(0));
    EXPECT_EQ(event.sequence, 1U);  // the second that LP 0 sent
    EXPECT_EQ(event.kind, 7);
    EXPECT_EQ(event.body, (std::array<std::uint64_t, 5>{11, 22, 33, 44, 55}));
    EXPECT_EQ(outcome.events, 2);
    EXPECT_EQ(outcome.windows, 2);
    EXPECT_EQ(outcome.last, 1_us);
}

TEST(WindowLoop, LetsAnLpActAtTheSameInstant) {
    SimpleLp a([](Outbox& out) { out.schedule(5_ns, 0, {3}); },
               [](Event const& event, Outbox& out) {
                   if (event.body[0] > 0) out.schedule(event.when, 0, {event.body[0] - 1});
               });
    SimpleLp b(nothing);
    EXPECT_EQ(run(options(1_us), a, b).events, 4);
    for (auto const& event : a.handled) EXPECT_EQ(event.when, 5_ns);
}

TEST(WindowLoop, NamesWhoBreaksTheLookahead) {
    SimpleLp a([](Outbox& out) { out.schedule(50_ns, 0, {}); },
               [](Event const&, Outbox& out) { out.send(LpId(1), 149'999_ps, 3, {}); });
    SimpleLp b(nothing);
    EXPECT_TRUE(contains(message_of<InternalError>(options(100_ns), a, b),
                         "LP 0 at 50000 ps sends an event of kind 3 to LP 1 for 149999 ps, closer than the "
                         "lookahead of 100000 ps"));
}

TEST(WindowLoop, AcceptsExactlyTheLookahead) {
    SimpleLp a([](Outbox& out) { out.schedule(50_ns, 0, {}); },
               [](Event const&, Outbox& out) { out.send(LpId(1), 150_ns, 3, {}); });
    SimpleLp b(nothing);
    EXPECT_EQ(run(options(100_ns), a, b).events, 2);
}

TEST(WindowLoop, RefusesToScheduleIntoThePast) {
    SimpleLp a([](Outbox& out) { out.schedule(50_ns, 0, {}); },
               [](Event const&, Outbox& out) { out.schedule(49_ns, 1, {}); });
    SimpleLp b(nothing);
    EXPECT_TRUE(contains(message_of<InternalError>(options(100_ns), a, b), "before now (50000 ps)"));
}

TEST(WindowLoop, RefusesTargetsThatDoNotExist) {
    SimpleLp a([](Outbox& out) { out.send(LpId(2), 1_us, 0, {}); });
    SimpleLp b(nothing);
    EXPECT_TRUE(contains(message_of<InternalError>(options(1_us), a, b), "to LP 2 of 2"));
}

TEST(WindowLoop, NoticesAnLpThatDoesNotLetTimePass) {
    auto const again = [](Event const& event, Outbox& out) { out.schedule(event.when, 9, {}); };
    SimpleLp a([](Outbox& out) { out.schedule(5_ns, 9, {}); }, again);
    SimpleLp b(nothing);
    auto with = options(1_us);
    with.stuck_limit = 1'000;
    EXPECT_TRUE(contains(message_of<IncompleteError>(with, a, b), "LP 0 has handled more than 1000 events at 5000 ps"));
    EXPECT_EQ(a.handled.size(), 1'001U);
}

TEST(WindowLoop, KeepsTheKindOfAnError) {
    auto const failing = [](auto error) {
        return SimpleLp([](Outbox& out) { out.schedule(1_ns, 0, {}); },
                        [error](Event const&, Outbox&) { throw error; });
    };
    SimpleLp b(nothing);
    auto input = failing(InputError("the input"));
    auto incomplete = failing(IncompleteError("the cycle"));
    auto memory = failing(std::bad_alloc());
    auto other = failing(std::out_of_range("some index"));
    EXPECT_EQ(message_of<InputError>(options(1_us), input, b), "the input");
    EXPECT_EQ(message_of<IncompleteError>(options(1_us), incomplete, b), "the cycle");
    EXPECT_THROW(run(options(1_us), memory, b), std::bad_alloc);
    EXPECT_EQ(message_of<InternalError>(options(1_us), other, b), "some index");
}

TEST(WindowLoop, StopsBeforeTheEndTime) {
    auto const tick = [](Event const& event, Outbox& out) { out.schedule(event.when + 30_ns, 0, {}); };
    SimpleLp a([](Outbox& out) { out.schedule(0_ns, 0, {}); }, tick);
    SimpleLp b(nothing);
    auto with = options(1_us);
    with.until = 90_ns;
    auto const outcome = run(with, a, b);
    EXPECT_EQ(outcome.reason, StopReason::until);
    EXPECT_EQ(outcome.events, 3);  // 0, 30 and 60 ns; not 90
    EXPECT_EQ(outcome.last, 60_ns);
}

TEST(WindowLoop, RefusesWindowsWiderThanTheLookahead) {
    SimpleLp a(nothing), b(nothing);
    auto with = options(1_us);
    with.width = 1'000'001_ps;
    EXPECT_THROW(run(with, a, b), InternalError);
    EXPECT_THROW(run(options(Time{}), a, b), InternalError);
}

TEST(WindowLoop, RefusesLpsThatAreMissingOrElsewhere) {
    SimpleLp a(nothing);
    LocalExchange alone;
    std::vector<std::uint32_t> const elsewhere = {0, 1};
    EXPECT_THROW(WindowLoop(options(1_us), {{LpId(0), &a}}, two_on_one, alone), InternalError);
    EXPECT_THROW(WindowLoop(options(1_us), {{LpId(0), &a}}, elsewhere, alone), InternalError);
    EXPECT_THROW(WindowLoop(options(1_us), {{LpId(0), &a}, {LpId(0), &a}}, two_on_one, alone), InternalError);
}

// Ticks once per window for ever, so only a flag ends it.
SimpleLp endless() {
    return SimpleLp([](Outbox& out) { out.schedule(0_ns, 0, {}); },
                    [](Event const& event, Outbox& out) { out.schedule(event.when + 1_us, 0, {}); });
}

class FlagAt final : public WindowHook {
  public:
    FlagAt(std::int64_t window, std::uint32_t flags) : window_(window), flags_(flags) {}
    Request at_window(WindowStatus const& status) override {
        seen.push_back(status);
        return {status.windows == window_ ? flags_ : 0, 40 + status.windows};
    }
    void agreed(WindowReport const& all) override { agreed_flags.push_back(all.flags); }

    std::vector<WindowStatus> seen;
    std::vector<std::uint32_t> agreed_flags;

  private:
    std::int64_t window_;
    std::uint32_t flags_;
};

TEST(WindowLoop, LeavesWhenTheHookAsks) {
    struct Case {
        std::uint32_t flags;
        StopReason reason;
    };
    for (auto const& [flags, reason] :
         {Case{window_flag::stop, StopReason::stop}, Case{window_flag::walltime, StopReason::walltime},
          Case{window_flag::memory | window_flag::stop, StopReason::memory}}) {
        auto a = endless();
        SimpleLp b(nothing);
        FlagAt hook(5, flags);
        auto const outcome = run(options(1_us), a, b, &hook);
        EXPECT_EQ(outcome.reason, reason);
        EXPECT_EQ(outcome.windows, 5);
        EXPECT_EQ(outcome.events, 5);
    }
}

TEST(WindowLoop, TellsTheHookWhereItStands) {
    auto a = endless();
    SimpleLp b(nothing);
    FlagAt hook(3, window_flag::stop);
    run(options(1_us), a, b, &hook);
    ASSERT_EQ(hook.seen.size(), 4U);  // once before the first window
    EXPECT_EQ(hook.seen[0].window.index, -1);
    auto const& last = hook.seen[3];
    EXPECT_EQ(last.window.begin, 2_us);
    EXPECT_EQ(last.windows, 3);
    EXPECT_EQ(last.local_events, 3);
    EXPECT_EQ(last.events, 2);  // by all, as of the exchange before
    EXPECT_EQ(last.pending, 1);
    EXPECT_EQ(last.all.load, 42);  // what it returned one window ago
}

TEST(WindowLoop, GoesOnAfterACheckpointFlag) {
    SimpleLp a([](Outbox& out) {
        out.schedule(0_ns, 0, {});
        out.schedule(5_us, 0, {});
        out.schedule(10_us, 0, {});
    });
    SimpleLp b(nothing);
    FlagAt hook(1, window_flag::checkpoint);
    EXPECT_EQ(run(options(1_us), a, b, &hook).reason, StopReason::finished);
    EXPECT_EQ(hook.agreed_flags, std::vector{window_flag::checkpoint});
}

}  // namespace
}  // namespace orrery
