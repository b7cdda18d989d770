// SPDX-License-Identifier: Apache-2.0
// What each process posts is what the others collect, for both schedules, from no event to more than one message holds.
#include "partitions/mpi_exchange.hpp"

#include "tests/mpi/mpi_gtest_main.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <unistd.h>

namespace orrery {
namespace {

using test::world;

class MpiExchange : public testing::TestWithParam<MpiSchedule> {
  protected:
    std::unique_ptr<Exchange> exchange = make_exchange(world(), GetParam());
    std::uint32_t const me = world().index(), n = world().count();
    std::vector<std::vector<Event>> outgoing{n};
    std::vector<Event> arrivals;
    WindowReport mine, all;
    Failure failure;
};

INSTANTIATE_TEST_SUITE_P(Schedules, MpiExchange, testing::Values(MpiSchedule::fused, MpiSchedule::collective),
                         [](auto const& tested) {
                             return tested.param == MpiSchedule::fused ? std::string("fused")
                                                                       : std::string("collective");
                         });

Event numbered(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
    Event event;
    event.when = Time::from_ps(number);
    event.source = LpId(from);
    event.target = LpId(to);
    event.sequence = number;
    event.body.fill((std::uint64_t{from} << 40) + (std::uint64_t{to} << 32) + number);
    return event;
}

TEST_P(MpiExchange, CombinesReports) {
    EXPECT_EQ(exchange->index(), me);
    EXPECT_EQ(exchange->count(), n);
    mine.next = Time::from_ps(1'000 - me);
    mine.last = Time::from_ps(10 + me);
    mine.events = 5;
    mine.load = me;
    mine.flags = me == n - 1 ? window_flag::status : 0;
    exchange->post(mine, outgoing, failure);
    exchange->collect(all, arrivals, failure);
    EXPECT_EQ(all.next.ps(), 1'000 - (n - 1));
    EXPECT_EQ(all.last.ps(), 10 + n - 1);
    EXPECT_EQ(all.events, 5 * n);
    EXPECT_EQ(all.load, n * (n - 1) / 2);
    EXPECT_EQ(all.flags, window_flag::status);
    EXPECT_TRUE(arrivals.empty());
}

TEST_P(MpiExchange, DeliversEveryEventOnceInWindowsOfAnySize) {
    // Around what fits the first message (61), and far beyond; another size for every pair, some of them empty.
    std::uint32_t const sizes[] = {0, 1, 60, 61, 62, 5'000, 0, 0, 200'000, 3};
    constexpr std::uint32_t rounds = 40;
    auto const size = [&](std::uint32_t from, std::uint32_t to, std::uint32_t round) {
        return from == to ? 0U : sizes[(from * 3 + to * 7 + round) % 10] / (round % 10 == 0 ? 1 : 4);
    };
    for (std::uint32_t round = 0; round < rounds; ++round) {
        mine = {};
        for (std::uint32_t to = 0; to < n; ++to) {
            for (std::uint32_t i = 0; i < size(me, to, round); ++i) outgoing[to].push_back(numbered(me, to, i + round));
            mine.sent += size(me, to, round);
        }
        exchange->post(mine, outgoing, failure);
        for (auto const& events : outgoing) ASSERT_TRUE(events.empty());
        if (round % 16 == me) usleep(3'000);  // the others have to wait, past their spinning
        exchange->collect(all, arrivals, failure);
        std::vector<std::uint32_t> seen(n, 0);
        std::size_t wrong = 0;
        for (auto const& event : arrivals) {
            auto const from = event.source.value();
            ASSERT_LT(from, n);
            auto const expected = numbered(from, me, seen[from]++ + round);
            wrong += event.body != expected.body || event.when != expected.when || event.target != expected.target;
        }
        EXPECT_EQ(wrong, 0U) << "round " << round;
        for (std::uint32_t from = 0; from < n; ++from)
            EXPECT_EQ(seen[from], size(from, me, round)) << "round " << round;
        arrivals.clear();
    }
}

TEST_P(MpiExchange, TellsTheEarliestFailureToAll) {
    // Processes 0 and n-1 fail; the latter earlier.
    if (me == 0) failure = {Failure::Kind::internal, Time::from_ps(70), LpId(1), "the later one"};
    if (me == n - 1) failure = {Failure::Kind::input, Time::from_ps(50), LpId(9), "the earlier one"};
    if (failure.kind != Failure::Kind::none) mine.flags = window_flag::error;
    exchange->post(mine, outgoing, failure);
    Failure agreed;
    exchange->collect(all, arrivals, agreed);
    EXPECT_EQ(all.flags, window_flag::error);
    EXPECT_EQ(agreed.kind, Failure::Kind::input);
    EXPECT_EQ(agreed.message, "the earlier one");
    EXPECT_EQ(agreed.when.ps(), 50);
    EXPECT_EQ(agreed.lp, LpId(9));
}

}  // namespace
}  // namespace orrery
