// SPDX-License-Identifier: Apache-2.0
// The kernel against the integer reference, to the picosecond and to the bit, on random networks and their histories.
#include "tests/netmodels/max_min_testing.hpp"
#include "tests/netmodels/reference_max_min.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace orrery::testing {
namespace {

// The kernel that forgets all levels at every settle, or at every other one.
class AfreshKernel : public MaxMinKernel {
  public:
    using MaxMinKernel::MaxMinKernel;
    void settle(Time now) { settle_afresh(now); }
};
class AlternatingKernel : public MaxMinKernel {
  public:
    using MaxMinKernel::MaxMinKernel;
    void settle(Time now) { (++settles_ % 2 == 0) ? settle_afresh(now) : MaxMinKernel::settle(now); }

  private:
    int settles_ = 0;
};

class MaxMinExact : public ::testing::TestWithParam<Scale> {
  protected:
    // Calls check(history, epoch, name) for random histories, of which every fourth has epochs.
    template <class Check>
    void for_random_histories(std::uint64_t count, Check const& check) {
        auto const coarse = scale_period(GetParam());
        for (std::uint64_t seed = 0; seed < count && !HasFatalFailure(); ++seed)
            check(RandomHistory(seed, GetParam()).make(), seed % 4 == 3 ? coarse : Time::from_ps(1),
                  fmt::format("seed {}", seed));
    }
};

INSTANTIATE_TEST_SUITE_P(Scales, MaxMinExact, ::testing::ValuesIn(every_scale),
                         [](auto const& parameter) { return scale_name(parameter.param); });

INSTANTIATE_TEST_SUITE_P(Fast, MaxMinExact, ::testing::Values(Scale::huge),
                         [](auto const& parameter) { return scale_name(parameter.param); });

TEST_P(MaxMinExact, EveryCompletionAndLevelIsTheReferences) {
    std::int64_t finished = 0, starved = 0, out_of_range = 0;
    constexpr int cases = 1500;
    for_random_histories(cases, [&](History const& history, Time epoch, std::string const& name) {
        auto const expected = run_history_of<reference::IntegerShares>(history, epoch);
        ASSERT_EQ(difference(run_history_of<MaxMinKernel>(history, epoch), expected), "") << name;
        for (auto const when : expected.done) finished += when < Time::infinity() ? 1 : 0;
        starved += expected.starved.empty() ? 0 : 1;
        out_of_range += expected.end == Trace::End::out_of_range ? 1 : 0;
    });
    // The cases are not all of one kind: most flows finish, in some cases a flow is left on a link that stays down.
    EXPECT_GT(finished, cases * 20);
    EXPECT_GT(starved, cases / 50);
    EXPECT_LT(out_of_range, cases / 10);
}

TEST_P(MaxMinExact, AnUpdateIsWhatStartingAfreshGives) {
    for_random_histories(400, [](History const& history, Time epoch, std::string const& name) {
        auto const expected = run_history_of<MaxMinKernel>(history, epoch);
        ASSERT_EQ(difference(run_history_of<AfreshKernel>(history, epoch), expected), "") << name;
        ASSERT_EQ(difference(run_history_of<AlternatingKernel>(history, epoch), expected), "") << name;
    });
}

// Hosts around a switch that all begin at once, in waves, with some transfers through a third link: enough flows that
// an update gives up halfway and fills everything anew.
TEST(MaxMinExactWaves, AnUpdateThatGivesUpEndsTheSame) {
    std::uint64_t gave_up = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        RandomSequence draw(seed, RandomStream::test, 8);
        History history{
            .capacity = std::vector<Rate>(41, Rate::from_bits_per_s(400'000'000'000)), .starts = {}, .changes = {}};
        for (auto& rate : history.capacity) rate = rate * (1 + draw.below(3));
        for (std::uint32_t i = 0; i < 700; ++i) {
            auto const weight = 1 + draw.below(seed % 2 ? 1 : 9);
            FlowStart start{.at = Time::from_ps(50'000'000 * draw.below(4)),
                            .crossings = {{1 + draw.below(20), weight}, {21 + draw.below(20), weight}},
                            .weight = weight,
                            .bytes = 1'000 + draw.below(1'000'000),
                            .cookie = i};
            if (draw.below(5) == 0) start.crossings.push_back({41, weight});
            history.starts.push_back(std::move(start));
        }
        for (auto const epoch : {Time::from_ps(1), Time::from_ps(10'000'000)}) {
            MaxMinKernel kernel(history.capacity);
            auto const got = run_history(kernel, history, epoch);
            ASSERT_EQ(difference(got, run_history_of<reference::IntegerShares>(history, epoch)), "") << "seed " << seed;
            gave_up += kernel.counters().afresh;
        }
    }
    EXPECT_GT(gave_up, 0U);
}

template <class T>
void shuffle(std::vector<T>& list, RandomSequence& draw) {
    for (auto i = static_cast<std::uint32_t>(list.size()); i > 1; --i) std::swap(list[i - 1], list[draw.below(i)]);
}

TEST_P(MaxMinExact, OrderOfInsertionHasNoSay) {
    std::uint64_t entity = 0;
    for_random_histories(400, [&](History history, Time epoch, std::string const& name) {
        auto const expected = run_history_of<MaxMinKernel>(history, epoch);
        RandomSequence draw(3, RandomStream::test, entity++);
        shuffle(history.starts, draw);
        shuffle(history.changes, draw);
        for (auto& start : history.starts) shuffle(start.crossings, draw);
        ASSERT_EQ(difference(run_history_of<MaxMinKernel>(history, epoch), expected), "") << name;
    });
}

TEST_P(MaxMinExact, NumbersOfLinksHaveNoSay) {
    std::uint64_t entity = 0;
    for_random_histories(400, [&](History const& history, Time epoch, std::string const& name) {
        auto expected = run_history_of<MaxMinKernel>(history, epoch);
        auto const links = history.capacity.size();
        std::vector<std::uint32_t> number(links);  // new number - 1 by old number - 1
        std::iota(number.begin(), number.end(), 0U);
        RandomSequence draw(4, RandomStream::test, entity++);
        shuffle(number, draw);
        auto renumbered = history;
        for (std::size_t l = 0; l < links; ++l) renumbered.capacity[number[l]] = history.capacity[l];
        for (auto& start : renumbered.starts)
            for (auto& c : start.crossings) c.link = number[c.link - 1] + 1;
        for (auto& change : renumbered.changes) change.link = number[change.link - 1] + 1;
        auto got = run_history_of<MaxMinKernel>(renumbered, epoch);
        auto const as_before = [&](std::vector<std::int64_t> const& values) {
            auto back = values;
            for (std::size_t i = 0; i < values.size(); ++i) back[i] = values[i / links * links + number[i % links]];
            return back;
        };
        got.levels = as_before(got.levels);
        got.loads = as_before(got.loads);
        ASSERT_EQ(difference(got, expected), "") << name;
    });
}

}  // namespace
}  // namespace orrery::testing
