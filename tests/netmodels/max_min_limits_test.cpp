// SPDX-License-Identifier: Apache-2.0
// The edges of the kernel: what it refuses, the slowest and the fastest, very many flows, links that die and come back.
#include "tests/netmodels/max_min_testing.hpp"
#include "tests/netmodels/topology_testing.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace orrery::testing {
namespace {

std::vector<MaxMinKernel::Completion> drain(MaxMinKernel& kernel) {
    std::vector<MaxMinKernel::Completion> done;
    kernel.settle({});
    for (auto now = kernel.next_completion(); now < Time::infinity(); now = kernel.next_completion()) {
        kernel.complete_until(now, done);
        kernel.settle(now);
    }
    return done;
}

MaxMinKernel one_link(Rate rate) {
    return MaxMinKernel(std::vector{rate});
}

std::vector<std::uint32_t> const first_link = {1};

TEST(MaxMinLimits, AFlowNeedsBytesWeightAndALink) {
    auto kernel = one_link(400_Gbps);
    EXPECT_THROW(kernel.add(first_link, 1, 0, 0), InternalError);
    EXPECT_THROW(kernel.add(first_link, 1, -1, 0), InternalError);
    EXPECT_THROW(kernel.add(first_link, 0, 1, 0), InternalError);
    EXPECT_THROW(kernel.add(std::vector<std::uint32_t>{}, 1, 1, 0), InternalError);
    EXPECT_EQ(kernel.active_flows(), 0U);
    EXPECT_FALSE(kernel.needs_settle());
}

TEST(MaxMinLimits, RatesBeyondThePetabitAreRefused) {
    auto kernel = one_link(Rate::from_bits_per_s(1'000'000'000'000'000));
    EXPECT_THROW(kernel.set_capacity(1, Rate::from_bits_per_s(2'000'000'000'000'000)), InternalError);
    EXPECT_THROW(kernel.open_link(Rate::unlimited()), InternalError);
}

TEST(MaxMinLimits, ALinkThatCarriesFlowsIsNotClosed) {
    auto kernel = one_link(400_Gbps);
    kernel.add(first_link, 1, 1, 0);
    kernel.settle({});
    EXPECT_THROW(kernel.close_link(1), InternalError);
}

TEST(MaxMinLimits, FromOneBitToAHundredTerabitsPerSecond) {
    for (std::int64_t rate = 1; rate <= 100'000'000'000'000; rate *= 10) {
        auto kernel = one_link(Rate::from_bits_per_s(rate));
        kernel.add(first_link, 1, 1'000, 0);
        kernel.add(first_link, 7, 7'000, 1);
        for (auto const& c : drain(kernel)) {
            EXPECT_GE(c.when, transfer_time(8'000, Rate::from_bits_per_s(rate)));
            // A level is rounded down by less than 8 x 2^-12 b/s of the link.
            auto const slack = 1 + c.when.ps() / rate * 8 / MaxMinKernel::rate_scale;
            EXPECT_LE(c.when, transfer_time(8'000, Rate::from_bits_per_s(rate)) + Time::from_ps(slack)) << rate;
        }
    }
}

TEST(MaxMinLimits, ASingleByteAndAllThatSixtyThreeBitsHold) {
    auto kernel = one_link(Rate::from_bits_per_s(100'000'000'000'000));
    kernel.add(first_link, 1, 1, 0);
    EXPECT_EQ(drain(kernel).at(0).when, 1_ps);  // 0.08 ps, rounded up
    auto vast = MaxMinKernel(std::vector{Rate::from_bits_per_s(1'000'000'000'000'000)});
    vast.add(first_link, 0xffffffff, std::numeric_limits<std::int64_t>::max() / 64, 0);
    auto const level = 1'000'000'000'000'000 * MaxMinKernel::rate_scale / 0xffffffff;
    vast.settle({});
    EXPECT_EQ(vast.level(1), level);
}

TEST(MaxMinLimits, AnEndBeyondTheRangeOfTimeIsTheUsersError) {
    auto kernel = one_link(Rate::from_bits_per_s(1));
    kernel.add(first_link, 1, 500'000, 0);  // 4,000,000 s; the range is 4,611,686
    kernel.settle({});
    EXPECT_EQ(kernel.next_completion(), Time::from_ps(4'000'000'000'000'000'000));
    auto slow = one_link(Rate::from_bits_per_s(1));
    slow.add(first_link, 1, 600'000, 0);
    slow.settle({});
    EXPECT_NE(input_error([&] { static_cast<void>(slow.next_completion()); }).find("use faster links or fewer bytes"),
              std::string::npos);
}

TEST(MaxMinLimits, AStarvedFlowGoesOnWhereItStopped) {
    auto kernel = one_link(400_Gbps);
    kernel.add(first_link, 1, 50'000, 5);  // one microsecond
    kernel.settle({});
    kernel.set_capacity(1, Rate{});
    kernel.settle(600_ns);
    EXPECT_EQ(kernel.next_completion(), Time::infinity());
    EXPECT_EQ(kernel.starved(), std::vector<std::uint64_t>{5});
    EXPECT_EQ(kernel.load(1), 0);
    kernel.set_capacity(1, 100_Gbps);
    kernel.settle(10_us);
    EXPECT_TRUE(kernel.starved().empty());
    EXPECT_EQ(kernel.next_completion(), 10_us + 1'600_ns);  // 0.4 us of the work at a quarter of the rate
}

// A share below 2^-12 b/s per unit of weight rounds to nothing, and its flow starves although its link is up.
TEST(MaxMinLimits, AShareBelowTheUnitStarves) {
    auto kernel = one_link(Rate::from_bits_per_s(1));
    kernel.add(first_link, 4096, 1, 0);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1), 1);
    kernel.add(first_link, 1, 1, 1);
    kernel.settle({});
    EXPECT_EQ(kernel.starved(), (std::vector<std::uint64_t>{0, 1}));
}

// Ten seconds of an optimised build, without sanitizers.
void expect_quick([[maybe_unused]] std::clock_t since) {
#ifdef NDEBUG
    EXPECT_LT(static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC, 10);
#endif
}

TEST(MaxMinLimits, AMillionEqualFlowsOnOneLink) {
    constexpr std::uint32_t count = 1'000'000;
    auto const began = std::clock();
    auto kernel = one_link(400_Gbps);
    for (std::uint32_t i = 0; i < count; ++i) kernel.add(first_link, 1, 65'536, i);
    auto const done = drain(kernel);
    ASSERT_EQ(done.size(), count);
    // Level: 400,000 b/s exactly.
    EXPECT_EQ(done.front().when, transfer_time(65'536LL * count, 400_Gbps));
    EXPECT_EQ(done.back().when, done.front().when);
    EXPECT_EQ(done.back().cookie, count - 1);
    expect_quick(began);
}

// Flow i of n has i times `step` bytes: when it ends, 1 .. i are over and each other has had as much.
void expect_varied_sizes_to_end_in_turn(std::uint32_t count) {
    constexpr std::int64_t step = 5'000;  // 0.1 us of the port
    auto const began = std::clock();
    auto kernel = one_link(400_Gbps);
    for (std::uint32_t i = count; i > 0; --i) kernel.add(first_link, 1, step * i, i);
    auto const done = drain(kernel);
    ASSERT_EQ(done.size(), count);
    for (std::int64_t i = 1; i <= count; ++i) {
        auto const& c = done[static_cast<std::size_t>(i - 1)];
        ASSERT_EQ(c.cookie, static_cast<std::uint64_t>(i));
        auto const exact = 100'000 * (i * (i + 1) / 2 + i * (count - i));
        ASSERT_GE(c.when.ps(), exact);
        // For each end before it a picosecond, and what its level lost: up to count u of 400e9 x 4096 u, for up to
        // count x 0.1 us.
        ASSERT_LE(c.when.ps(), exact + i * (2 + std::int64_t{count} * count / 16'000'000'000));
    }
    expect_quick(began);
}

TEST(MaxMinLimits, ThousandsOfFlowsOfVariedSizeOnOneLink) {
    expect_varied_sizes_to_end_in_turn(5'000);
}

TEST(MaxMinLimits, AMillionFlowsOfVariedSizeOnOneLink) {
    expect_varied_sizes_to_end_in_turn(1'000'000);
}

// Every sender is busy elsewhere at the full rate of its port when it joins an incast. What half of each port would let
// through is together between 2^63 and 2^64 of the unit.
TEST(MaxMinLimits, AnIncastOfThousandsOfBusySenders) {
    constexpr std::uint32_t senders = 4'000;
    MaxMinKernel kernel(std::vector<Rate>(senders + 1, 196_GBps));
    for (std::uint32_t i = 0; i < senders; ++i) kernel.add(std::vector{i + 2}, 1, 1'000'000'000, i);
    kernel.settle({});
    for (std::uint32_t i = 0; i < senders; ++i) kernel.add(std::vector{i + 2, 1U}, 1, 1'000, senders + i);
    kernel.settle({});
    EXPECT_EQ(kernel.level(1), (196_GBps).bits_per_s() * MaxMinKernel::rate_scale / senders);
    EXPECT_LE(kernel.load(1), (196_GBps).bits_per_s() * MaxMinKernel::rate_scale);
}

// The same in two links and two flows.
TEST(MaxMinLimits, APartThatWouldTakeFarMoreThanItsLink) {
    MaxMinKernel kernel(std::vector<Rate>(2, Rate::from_bits_per_s(100'000'000'000'000)));
    kernel.add(std::vector<MaxMinKernel::Crossing>{{1, 1}}, 1, 1'000, 0);
    kernel.settle({});
    kernel.add(std::vector<MaxMinKernel::Crossing>{{1, 1}, {2, 60}}, 60, 1'000, 1);
    kernel.settle({});
    EXPECT_EQ(kernel.level(2), 100'000'000'000'000 * MaxMinKernel::rate_scale / 60);
}

}  // namespace
}  // namespace orrery::testing
