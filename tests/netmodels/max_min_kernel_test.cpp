// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/max_min_kernel.hpp"

#include "core/random.hpp"
#include "tests/netmodels/reference_max_min.hpp"

#include <gtest/gtest.h>

#include <map>

namespace orrery {
namespace {

using namespace literals;

struct Offer {
    Time start;
    std::vector<std::uint32_t> links;  // 0-based
    std::uint32_t weight = 1;
    std::int64_t bytes = 0;
    Rate cap = Rate::unlimited();
};

// Runs a kernel to the end; completion times by index of offer.
std::vector<Time> run(std::vector<Rate> const& capacity, std::vector<Offer> const& offers) {
    MaxMinKernel kernel(capacity);
    std::vector<Time> done(offers.size(), Time::infinity());
    std::multimap<Time, std::size_t> starts;
    for (std::size_t i = 0; i < offers.size(); ++i) starts.emplace(offers[i].start, i);
    std::vector<MaxMinKernel::Completion> completions;
    while (!starts.empty() || kernel.next_completion() < Time::infinity()) {
        auto const next = starts.empty() ? Time::infinity() : starts.begin()->first;
        auto const now = std::min(next, kernel.next_completion());
        completions.clear();
        kernel.complete_until(now, completions);
        for (auto const& c : completions) done[c.cookie] = c.when;
        while (!starts.empty() && starts.begin()->first == now) {
            auto const i = starts.begin()->second;
            std::vector<std::uint32_t> links;
            for (auto const l : offers[i].links) links.push_back(l + 1);
            kernel.add(links, offers[i].weight, offers[i].bytes, i, offers[i].cap);
            starts.erase(starts.begin());
        }
        kernel.settle(now);
    }
    return done;
}

TEST(MaxMinKernel, OneFlowTakesBytesOverRate) {
    auto const done = run({400_Gbps}, {{.start = 3_us, .links = {0}, .bytes = 16 << 20}});
    EXPECT_EQ(done[0], 3_us + transfer_time(16 << 20, 400_Gbps));
}

TEST(MaxMinKernel, FlowsOnOneLinkFinishTogether) {
    std::vector<Offer> offers(15, {.start = {}, .links = {0}, .bytes = 2'000'000});
    for (auto const done : run({100_Gbps}, offers)) {
        EXPECT_GE(done, 2'400_us);  // 15 x 2 MB at 100 Gb/s
        EXPECT_LE(done, 2'400_us + 1_ps);
    }
}

TEST(MaxMinKernel, WeightsShareInProportion) {
    // 3 : 1 on one link; the heavy flow is done when both have moved in proportion.
    auto const done =
        run({8_GBps}, {{.links = {0}, .weight = 3, .bytes = 3'000'000}, {.links = {0}, .bytes = 1'000'000}});
    EXPECT_EQ(done[0], 500_us);
    EXPECT_EQ(done[1], 500_us);
}

TEST(MaxMinKernel, ParkingLot) {
    // A long flow over two links against one short flow on each: half of either link.
    auto const done = run({80_Gbps, 80_Gbps}, {{.links = {0, 1}, .bytes = 5'000'000},
                                               {.links = {0}, .bytes = 5'000'000},
                                               {.links = {1}, .bytes = 10'000'000}});
    EXPECT_EQ(done[0], 1_ms);
    EXPECT_EQ(done[1], 1_ms);
    EXPECT_EQ(done[2], 1_ms + 500_us);  // alone for its second half
}

TEST(MaxMinKernel, CapBindsOneFlowAndLeavesTheRest) {
    auto const done =
        run({100_Gbps}, {{.links = {0}, .bytes = 1'250'000, .cap = 10_Gbps}, {.links = {0}, .bytes = 11'250'000}});
    EXPECT_EQ(done[0], 1_ms);
    EXPECT_EQ(done[1], 1_ms);
}

TEST(MaxMinKernel, FlowOnADeadLinkIsReportedAsStarved) {
    std::vector<Rate> const capacity = {10_Gbps, Rate{}};
    MaxMinKernel kernel(capacity);
    std::vector<std::uint32_t> const dead = {1, 2}, alive = {1};
    kernel.add(dead, 1, 1000, 7);
    kernel.add(alive, 1, 1000, 8);
    kernel.settle(Time{});
    std::vector<MaxMinKernel::Completion> done;
    kernel.complete_until(kernel.next_completion(), done);
    kernel.settle(done.front().when);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].cookie, 8U);
    EXPECT_EQ(done[0].when, 800_ns);  // the dead flow takes nothing from the live one
    EXPECT_EQ(kernel.next_completion(), Time::infinity());
    EXPECT_EQ(kernel.starved(), std::vector<std::uint64_t>{7});
}

TEST(MaxMinKernel, AllToAllOnOneSwitchIsBoundByThePorts) {
    constexpr std::uint32_t n = 16;
    std::vector<Offer> offers;
    for (std::uint32_t s = 0; s < n; ++s)
        for (std::uint32_t t = 0; t < n; ++t)
            if (s != t) offers.push_back({.links = {s, n + t}, .bytes = 65'536});
    for (auto const done : run(std::vector<Rate>(2 * n, 400_Gbps), offers))
        EXPECT_NEAR(static_cast<double>(done.ps()), static_cast<double>(transfer_time((n - 1) * 65'536, 400_Gbps).ps()),
                    1);
}

struct RandomCase {
    std::vector<Rate> capacity;
    std::vector<Offer> offers;
};

RandomCase random_case(std::uint64_t seed) {
    RandomSequence draw(seed, RandomStream::test, 0);
    RandomCase c;
    auto const links = 1 + draw.below(40);
    for (std::uint32_t l = 0; l < links; ++l)
        c.capacity.push_back(Rate::from_bits_per_s(1'000'000LL * (1'000 + draw.below(400'000))));
    auto const flows = 1 + draw.below(60);
    for (std::uint32_t f = 0; f < flows; ++f) {
        Offer offer{.start = Time::from_ps(draw.below(3) == 0 ? 0 : draw.below(1'000'000'000)),
                    .links = {},
                    .weight = draw.below(2) ? 1 : 1 + draw.below(20),
                    .bytes = 1 + draw.below(5'000'000)};
        auto const hops = 1 + draw.below(std::min(links, 5U));
        while (offer.links.size() < hops) {
            auto const link = draw.below(links);
            if (std::find(offer.links.begin(), offer.links.end(), link) == offer.links.end())
                offer.links.push_back(link);
        }
        if (draw.below(5) == 0) offer.cap = Rate::from_bits_per_s(1'000'000LL * (1'000 + draw.below(10'000)));
        c.offers.push_back(std::move(offer));
    }
    return c;
}

// End to end against real numbers; max_min_rounding_test.cpp bounds the shares themselves. A completion is up to a
// picosecond late, which moves the ends of others by as much times the ratio of their shares: three is enough for these
// networks. Shares are some units of 2^-12 b/s off, which at rates above 1 Gb/s is below 1e-9.
TEST(MaxMinKernel, AgreesWithTheReferenceOnRandomNetworks) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        auto const c = random_case(seed);
        auto const got = run(c.capacity, c.offers);
        std::vector<long double> capacity;
        for (auto const rate : c.capacity) capacity.push_back(static_cast<long double>(rate.bits_per_s()));
        std::vector<reference::Flow> flows;
        for (auto const& offer : c.offers) {
            reference::Flow flow{.crossings = {},
                                 .weight = static_cast<long double>(offer.weight),
                                 .bits = static_cast<long double>(offer.bytes) * 8,
                                 .start = static_cast<long double>(offer.start.ps()) * 1e-12L};
            for (auto const link : offer.links) flow.crossings.push_back({link, flow.weight});
            if (offer.cap != Rate::unlimited()) {
                flow.crossings.push_back({capacity.size(), flow.weight});
                capacity.push_back(static_cast<long double>(offer.cap.bits_per_s()));
            }
            flows.push_back(flow);
        }
        reference::simulate(capacity, flows);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            auto const expected = flows[f].done * 1e12L;
            auto const tolerance = 3 * static_cast<long double>(flows.size()) + expected * 1e-9L;
            ASSERT_NEAR(static_cast<double>(got[f].ps()), static_cast<double>(expected), static_cast<double>(tolerance))
                << "seed " << seed << ", flow " << f;
        }
    }
}

TEST(MaxMinKernel, OrderOfInsertionDoesNotMatter) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto c = random_case(seed);
        for (auto& offer : c.offers) offer.start = Time::from_ps(offer.start.ps() / 200'000'000 * 200'000'000);
        auto const forwards = run(c.capacity, c.offers);
        std::reverse(c.offers.begin(), c.offers.end());
        auto backwards = run(c.capacity, c.offers);
        std::reverse(backwards.begin(), backwards.end());
        ASSERT_EQ(forwards, backwards) << "seed " << seed;
    }
}

TEST(MaxMinKernel, TwiceTheRatesIsNeverSlower) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto c = random_case(seed);
        for (auto& offer : c.offers) offer.start = Time{};
        auto const slow = run(c.capacity, c.offers);
        for (auto& rate : c.capacity) rate = rate * 2;
        for (auto& offer : c.offers)
            if (offer.cap != Rate::unlimited()) offer.cap = offer.cap * 2;
        auto const fast = run(c.capacity, c.offers);
        for (std::size_t f = 0; f < slow.size(); ++f) ASSERT_LE(fast[f].ps(), slow[f].ps() / 2 + 10) << "seed " << seed;
    }
}

TEST(MaxMinKernel, MemoryOfFinishedFlowsIsReused) {
    std::vector<Rate> const capacity(4, 100_Gbps);
    MaxMinKernel kernel(capacity);
    std::vector<MaxMinKernel::Completion> done;
    Time now;
    for (int round = 0; round < 1000; ++round) {
        for (std::uint32_t s = 1; s <= 2; ++s)
            for (std::uint32_t t = 3; t <= 4; ++t) kernel.add(std::array{s, t}, 1, 1000, 0);
        kernel.settle(now);
        while (kernel.active_flows() > 0) {
            now = kernel.next_completion();
            kernel.complete_until(now, done);
            kernel.settle(now);
        }
    }
    EXPECT_EQ(done.size(), 4000U);
    EXPECT_LT(kernel.counters().visits, 4000U * 8);  // lists do not grow with the number of flows ever seen
}

}  // namespace
}  // namespace orrery
