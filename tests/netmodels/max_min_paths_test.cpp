// SPDX-License-Identifier: Apache-2.0
// Closed forms of the kernel alone: one link, parking lots, and flows over several unequal paths.
//
// A flow of weight w over several paths lists the links of all, each with its part of w: it moves w per unit of its
// level, split in those parts. Striping in fixed proportions, whatever they are, is one flow. Paths that each take what
// they can get (subflows with windows of their own) are one flow per path, with bytes of their own.
#include "tests/netmodels/max_min_testing.hpp"
#include "tests/netmodels/topology_testing.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace orrery::testing {
namespace {

std::vector<Time> ends(std::vector<Rate> capacity, std::vector<FlowStart> starts,
                       std::vector<CapacityChange> changes = {}) {
    for (std::size_t f = 0; f < starts.size(); ++f) starts[f].cookie = f;
    return run_history_of<MaxMinKernel>({std::move(capacity), std::move(starts), std::move(changes)}).done;
}

void expect_end(Time got, Time expected, Time slack = 2_ps) {
    EXPECT_GE(got, expected);
    EXPECT_LE(got, expected + slack);
}

TEST(MaxMinPaths, FlowsOfOneLinkEndInOrderOfSize) {
    std::vector<std::int64_t> const megabytes = {7, 1, 4, 4, 2, 9};
    std::vector<FlowStart> starts;
    for (auto const m : megabytes) starts.push_back({.at = {}, .crossings = {{1, 1}}, .bytes = m * 1'000'000});
    auto const done = ends({400_Gbps}, starts);
    for (std::size_t f = 0; f < done.size(); ++f) {
        // By then each has had as much as this one, or all it wanted.
        std::int64_t moved = 0;
        for (auto const m : megabytes) moved += std::min(m, megabytes[f]);
        expect_end(done[f], moved * 20_us, 10_ps);
    }
}

// One flow over k links against `crossing` flows on each: the long one gets as much as any short one.
TEST(MaxMinPaths, ParkingLot) {
    for (std::uint32_t const links : {2U, 5U, 30U})
        for (std::uint32_t const crossing : {1U, 3U}) {
            std::vector<FlowStart> starts(1, {.at = {}, .crossings = {}, .bytes = 1'000'000});
            for (std::uint32_t l = 1; l <= links; ++l) {
                starts[0].crossings.push_back({l, 1});
                for (std::uint32_t i = 0; i < crossing; ++i)
                    starts.push_back({.at = {}, .crossings = {{l, 1}}, .bytes = 1'000'000});
            }
            for (auto const done : ends(std::vector<Rate>(links, 400_Gbps), starts))
                expect_end(done, (crossing + 1) * 20_us);
        }
}

// The k-th link is k times as fast: the long flow is bound by the first, the others get the rest.
TEST(MaxMinPaths, UnevenParkingLot) {
    std::vector<FlowStart> starts(1, {.at = {}, .crossings = {}, .bytes = 1'000'000'000});
    std::vector<Rate> capacity;
    for (std::uint32_t l = 1; l <= 10; ++l) {
        capacity.push_back(100_Gbps * l);
        starts[0].crossings.push_back({l, 1});
        starts.push_back({.at = {}, .crossings = {{l, 1}}, .bytes = 100'000});
    }
    auto const done = ends(capacity, starts);
    for (std::uint32_t l = 1; l <= 10; ++l)  // 100 l - 50 Gb/s
        expect_end(done[l], transfer_time(100'000, Rate::from_bits_per_s(100'000'000'000 * l - 50'000'000'000)), 20_ps);
}

TEST(MaxMinPaths, PartsInProportionToThePathsUseThemAll) {
    // 100 + 300 Gb/s, a quarter and three quarters of the bytes.
    auto const done =
        ends({100_Gbps, 300_Gbps}, {{.at = {}, .crossings = {{1, 1}, {2, 3}}, .weight = 4, .bytes = 4'000'000}});
    expect_end(done[0], 80_us);
}

TEST(MaxMinPaths, EqualPartsAreBoundByTheSlowerPath) {
    auto const done =
        ends({100_Gbps, 300_Gbps}, {{.at = {}, .crossings = {{1, 1}, {2, 1}}, .weight = 2, .bytes = 4'000'000}});
    expect_end(done[0], 160_us);  // twice 100 Gb/s
}

TEST(MaxMinPaths, ASprayedFlowSharesEachPathByItsPart) {
    // Path 1 also carries a flow of its own. The sprayed one moves 2 units per level and takes one of each path, so
    // both levels are 50 Gb/s; what it leaves of path 2 is for the third.
    auto const done =
        ends({100_Gbps, 100_Gbps}, {{.at = {}, .crossings = {{1, 1}, {2, 1}}, .weight = 2, .bytes = 1'250'000},
                                    {.at = {}, .crossings = {{1, 1}}, .bytes = 625'000},
                                    {.at = {}, .crossings = {{2, 3}}, .weight = 3, .bytes = 937'500}});
    // Path 2 would fill at level 25 Gb/s: the sprayed flow moves 50, the third 75, the second gets the other 75 of
    // path 1.
    expect_end(done[2], 100_us);
    expect_end(done[1], transfer_time(625'000, 75_Gbps));
    // 50 Gb/s for 100 us are 625,000 B; then both paths are its own.
    expect_end(done[0], 100_us + transfer_time(625'000, 200_Gbps));
}

TEST(MaxMinPaths, APathThatFailsStopsAFixedStripeUntilItIsBack) {
    auto const done =
        ends({100_Gbps, 100_Gbps}, {{.at = {}, .crossings = {{1, 1}, {2, 1}}, .weight = 2, .bytes = 2'500'000}},
             {{40_us, 2, Rate{}}, {70_us, 2, 50_Gbps}});
    expect_end(done[0], 70_us + 120_us);  // 60 us of work at half the rate
}

// Seven sub-planes from a sender's port to a receiver's, one of them at half its rate: parts of 2, 2, 2, 2, 2, 2, 1.
TEST(MaxMinPaths, SevenSubPlanesOneOfThemDegraded) {
    std::vector<Rate> capacity(14, 28_GBps);
    capacity[3] = 14_GBps;
    FlowStart start{.at = {}, .crossings = {}, .weight = 13, .bytes = 182'000'000};
    for (std::uint32_t p = 1; p <= 7; ++p) {
        start.crossings.push_back({p, p == 4 ? 1U : 2U});
        start.crossings.push_back({p + 7, p == 4 ? 1U : 2U});
    }
    expect_end(ends(capacity, {start})[0], 1_ms);  // 6.5 x 28 GB/s
    for (auto& c : start.crossings) c.weight = 1;
    start.weight = 7;
    expect_end(ends(capacity, {start})[0], transfer_time(182'000'000, 98_GBps));  // even stripes: 7 x 14 GB/s
}

// A link that a flow meets on two of its paths is listed once, with both parts.
TEST(MaxMinPaths, PathsThatMeetAddUpTheirParts) {
    auto const done = ends({100_Gbps, 300_Gbps, 300_Gbps},
                           {{.at = {}, .crossings = {{1, 2}, {2, 1}, {3, 1}}, .weight = 2, .bytes = 1'250'000}});
    expect_end(done[0], 100_us);
}

}  // namespace
}  // namespace orrery::testing
