// SPDX-License-Identifier: Apache-2.0
// Two kernels that share flows and tell each other the levels of their links end where one joint kernel does.
#include "tests/netmodels/max_min_testing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace orrery::testing {
namespace {

// Both sides number the links alike. A side computes the levels of its own links and is told those of the others; it
// knows the flows that cross a link of its own.
class SplitKernels {
  public:
    explicit SplitKernels(std::span<Rate const> capacities)
        : sides_{MaxMinKernel(capacities), MaxMinKernel(capacities)},
          told_(capacities.size() + 1, MaxMinKernel::unbounded) {
        for (std::uint32_t link = 1; link < told_.size(); ++link) other(link).impose_level(link, told_[link]);
    }
    void set_capacity(std::uint32_t link, Rate capacity) { owner(link).set_capacity(link, capacity); }
    void add(std::span<MaxMinKernel::Crossing const> crossings, std::uint32_t weight, std::int64_t bytes,
             std::uint64_t cookie, Rate cap) {
        for (std::uint32_t side = 0; side < 2; ++side) {
            auto const mine = [&](auto const& c) { return side_of(c.link) == side; };
            if (std::none_of(crossings.begin(), crossings.end(), mine)) continue;
            sides_[side].add(crossings, weight, bytes, cookie, cap);
            ++known_by_[cookie];
        }
    }
    void settle(Time now) {
        std::uint32_t rounds = 0;
        for (bool moved = true; moved; ++rounds) {
            for (auto& side : sides_) side.settle(now);
            moved = false;
            for (std::uint32_t link = 1; link < told_.size(); ++link) {
                if (told_[link] == owner(link).level(link)) continue;
                told_[link] = owner(link).level(link);
                other(link).impose_level(link, told_[link]);
                moved = true;
            }
        }
        most_rounds = std::max(most_rounds, rounds);
    }
    Time next_completion() const { return std::min(sides_[0].next_completion(), sides_[1].next_completion()); }
    void complete_until(Time now, std::vector<MaxMinKernel::Completion>& done) {
        std::map<std::uint64_t, std::vector<Time>> ends;
        for (auto& side : sides_) {
            std::vector<MaxMinKernel::Completion> completions;
            side.complete_until(now, completions);
            for (auto const& c : completions) ends[c.cookie].push_back(c.when);
        }
        for (auto const& [cookie, when] : ends) {
            EXPECT_EQ(when.size(), known_by_[cookie]) << "flow " << cookie << " ends on one side only";
            EXPECT_EQ(when.front(), when.back());
            done.push_back({cookie, when.front()});
        }
    }
    std::int64_t level(std::uint32_t link) const { return sides_[side_of(link)].level(link); }
    std::int64_t load(std::uint32_t link) const { return sides_[side_of(link)].load(link); }
    std::vector<std::uint64_t> starved() const {
        auto all = sides_[0].starved();
        for (auto const cookie : sides_[1].starved()) all.push_back(cookie);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    std::uint32_t most_rounds = 0;

  private:
    static std::uint32_t side_of(std::uint32_t link) { return link % 2; }
    MaxMinKernel& owner(std::uint32_t link) { return sides_[side_of(link)]; }
    MaxMinKernel& other(std::uint32_t link) { return sides_[1 - side_of(link)]; }

    std::array<MaxMinKernel, 2> sides_;
    std::vector<std::int64_t> told_;  // by link
    std::map<std::uint64_t, std::size_t> known_by_;
};

class MaxMinSplit : public ::testing::TestWithParam<Scale> {};

INSTANTIATE_TEST_SUITE_P(Scales, MaxMinSplit, ::testing::ValuesIn(every_scale),
                         [](auto const& parameter) { return scale_name(parameter.param); });

TEST_P(MaxMinSplit, TwoKernelsAgreeWithTheJointOne) {
    std::uint32_t most_rounds = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        auto const history = RandomHistory(seed, GetParam()).make();
        SplitKernels split(history.capacity);
        ASSERT_EQ(difference(run_history(split, history), run_history_of<MaxMinKernel>(history)), "")
            << "seed " << seed;
        // Each round fixes at least the lowest level that is still wrong.
        ASSERT_LE(split.most_rounds, history.capacity.size() + 2) << "seed " << seed;
        most_rounds = std::max(most_rounds, split.most_rounds);
    }
    EXPECT_GT(most_rounds, 3U);  // there was something to agree on
}

// The smallest case of it.
TEST(MaxMinImposed, ALevelThatGoesAwayIsSharedOut) {
    std::vector<Rate> const capacity = {Rate::from_bits_per_s(110), Rate{}, Rate{}};
    MaxMinKernel kernel(capacity);
    kernel.impose_level(2, 5 * MaxMinKernel::rate_scale);
    kernel.impose_level(3, 100 * MaxMinKernel::rate_scale);
    kernel.add(std::vector<std::uint32_t>{1, 2}, 1, 1'000, 0);
    kernel.add(std::vector<std::uint32_t>{1, 3}, 1, 1'000, 1);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1), MaxMinKernel::unbounded);
    kernel.impose_level(2, MaxMinKernel::unbounded);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1), 55 * MaxMinKernel::rate_scale);  // not 10, with 100 for the other
}

TEST(MaxMinImposed, ALevelBindsUntilAnotherIsTold) {
    std::vector<Rate> const capacity = {Rate::from_bits_per_s(4'000), Rate::from_bits_per_s(1)};
    MaxMinKernel kernel(capacity);
    kernel.impose_level(2, 1'000 * MaxMinKernel::rate_scale);
    kernel.add(std::vector<std::uint32_t>{1, 2}, 2, 1'000'000, 0);
    kernel.add(std::vector<std::uint32_t>{1}, 1, 1'000'000, 1);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1),
              2'000 * MaxMinKernel::rate_scale);  // weight 2 takes 2,000 b/s, the rest is for the other
    EXPECT_EQ(kernel.load(2), 2'000 * MaxMinKernel::rate_scale);
    kernel.impose_level(2, MaxMinKernel::unbounded);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1), 4'000 * MaxMinKernel::rate_scale / 3);
    kernel.impose_level(2, 0);
    kernel.settle({});
    EXPECT_EQ(kernel.starved(), std::vector<std::uint64_t>{0});
    kernel.set_capacity(2, Rate::from_bits_per_s(2'000));  // a link like any other from here on
    kernel.settle({});
    EXPECT_EQ(kernel.level(2), 1'000 * MaxMinKernel::rate_scale);
    EXPECT_EQ(kernel.level(1), 2'000 * MaxMinKernel::rate_scale);
}

}  // namespace
}  // namespace orrery::testing
