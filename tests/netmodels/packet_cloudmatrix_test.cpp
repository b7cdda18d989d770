// SPDX-License-Identifier: Apache-2.0
// One dispatch at EP320, packet by packet over the whole UB plane: hash imbalance over the L2 chips, damage, closed
// forms.
#include "tests/netmodels/packet_testing.hpp"

#include <cmath>
#include <map>
#include <numeric>

namespace orrery::testing {
namespace {

constexpr std::uint32_t ep = 320, node_dies = 16, chips = 7 * 16, top_k = 8;

PacketSettings settings_of(LoadBalancing balancing, std::uint64_t seed = 1) {
    PacketSettings settings;
    settings.load_balancing = balancing;
    settings.leaf_switching = settings.spine_switching = Switching::cut_through;
    settings.seed = seed;
    return settings;
}

// What decides how a dispatch loads the fabric: bytes from rank to rank.
using Pairs = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

// `tokens` of each rank to `top_k` ranks drawn at random, one packet each.
Pairs routed(std::uint32_t tokens) {
    Pairs pairs;
    for (std::uint32_t source = 0; source < ep; ++source)
        for (std::uint32_t draw = 0; draw < tokens * top_k; ++draw) {
            auto const target =
                static_cast<std::uint32_t>(DigestChain::mix(std::uint64_t{source} << 32 | draw) % std::uint64_t{ep});
            if (target / 2 != source / 2) pairs[{source, target}] += 4096;  // not within a package
        }
    return pairs;
}

std::vector<Message> messages_of(Pairs const& pairs) {
    std::vector<Message> messages;
    for (auto const& [pair, bytes] : pairs) messages.push_back(message(pair.first, pair.second, bytes));
    return messages;
}

// The same bytes from every rank to every other, each starting behind itself.
std::vector<Message> balanced(std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t source = 0; source < ep; ++source)
        for (std::uint32_t k = 1; k < ep; ++k)
            if (auto const target = (source + k) % ep; target / 2 != source / 2)
                messages.push_back(message(source, target, bytes));
    return messages;
}

// Packets that reach each chip of tier 2.
std::vector<double> chip_loads(PacketBench const& bench, PacketRun const& run) {
    std::map<std::uint32_t, double> packets;
    auto const& fabric = bench.compiled();
    for (std::uint32_t p = 0; p < fabric.port_count(); ++p) {
        auto const to = fabric.port(p).to;
        if (fabric.fabric().nodes()[fabric.node(to).index()].tier == 2)
            packets[to] += static_cast<double>(run.ports[p].packets);
    }
    std::vector<double> loads;
    for (auto const& [chip, count] : packets) loads.push_back(count);
    return loads;
}

double mean(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double largest(std::vector<double> const& values) {
    return *std::max_element(values.begin(), values.end());
}

// The expected largest of n independent standard normal values: the integral of x d(Phi(x)^n).
double expected_largest_normal(std::uint32_t n) {
    double sum = 0, before = 0;
    constexpr double step = 1e-3;
    for (double x = -8; x < 8; x += step) {
        auto const below = std::pow(0.5 * std::erfc(-(x + step) / std::sqrt(2.0)), n);
        sum += (x + step / 2) * (below - before);
        before = below;
    }
    return sum;
}

// One hash per pair of ranks throws the pairs like balls into 112 bins. A pair's weight is its packets, so a chip's
// load has mean sum(w) / 112 and variance sum(w^2) (1 / 112) (1 - 1 / 112), and the fullest chip lies the expected
// largest of 112 normal values above the mean.
TEST(PacketCloudMatrix, HashedDispatchLoadsTheFullestL2ChipLikeBallsIntoBins) {
    auto const pairs = routed(16);
    double sum = 0, squares = 0;
    for (auto const& [pair, bytes] : pairs) {
        if (pair.first / node_dies == pair.second / node_dies) continue;
        auto const weight = static_cast<double>(bytes / 4096);
        sum += weight, squares += weight * weight;
    }
    auto const deviation = std::sqrt(squares / chips * (1 - 1.0 / chips));
    auto const expected = sum / chips + deviation * expected_largest_normal(chips);
    constexpr int seeds = 12;
    std::vector<double> fullest;
    for (int seed = 1; seed <= seeds; ++seed) {
        PacketBench const bench(cloudmatrix(), settings_of(LoadBalancing::ecmp, static_cast<std::uint64_t>(seed)));
        auto const loads = chip_loads(bench, bench.run(messages_of(pairs)));
        ASSERT_EQ(loads.size(), chips);
        EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), 0.0), sum);  // no flow is lost or split
        fullest.push_back(largest(loads));
    }
    // The largest of 112 normal values has a deviation of 0.43; four of that, for the mean of the seeds.
    EXPECT_NEAR(mean(fullest), expected, 4 * 0.43 * deviation / std::sqrt(double{seeds}));
    EXPECT_GT(expected / (sum / chips), 1.1);  // it is no small effect

    PacketBench const sprayed(cloudmatrix(), settings_of(LoadBalancing::spray));
    auto const loads = chip_loads(sprayed, sprayed.run(messages_of(pairs)));
    EXPECT_LT(largest(loads), 1.05 * mean(loads));
}

struct Dispatch {
    double us = 0;
    std::vector<double> chips;  // packets into each
    double fullest_link = 0;    // packets into a die over one link
};

Dispatch dispatch(LoadBalancing balancing, std::vector<Degradation> const& damage = {}) {
    PacketBench const bench(cloudmatrix(), settings_of(balancing), 1, damage);
    auto const run = bench.run(balanced(16 * 1024));
    EXPECT_TRUE(run.starved.empty());
    EXPECT_EQ(run.counters.messages_done, run.counters.messages);
    Dispatch result{.us = run.last.seconds() * 1e6, .chips = chip_loads(bench, run)};
    for (std::uint32_t p = 0; p < run.ports.size(); ++p)
        if (bench.compiled().is_endpoint(bench.compiled().port(p).to))
            result.fullest_link = std::max(result.fullest_link, static_cast<double>(run.ports[p].packets));
    return result;
}

// Spraying balances what each die sends over its sub-planes, not what each receives: a die's 318 x 4 packets come over
// its seven links as a binomial has it, and a dispatch is over when the fullest of all 7 x 320 links is.
TEST(PacketCloudMatrix, ABalancedSprayedDispatchTakesWhatTheFullestLinkOfAReceiverTakes) {
    auto const run = dispatch(LoadBalancing::spray);
    double const packets = (ep - 2) * 4, share = 1.0 / 7;
    auto const deviation = std::sqrt(packets * share * (1 - share));
    auto const expected = packets * share + deviation * expected_largest_normal(7 * ep);
    EXPECT_NEAR(run.fullest_link, expected, 1.2 * deviation);  // the largest of 2,240 has a deviation of 0.3
    constexpr double packet_us = 4096 / 28e3;
    EXPECT_GE(run.us, run.fullest_link * packet_us);
    EXPECT_LE(run.us, 1.08 * run.fullest_link * packet_us);
}

// A sub-plane carries a seventh of everything; without one of its 16 L2 chips the other 15 share that, so they carry
// 16 / 15 of their load and a dispatch that fills the links takes at most 16 / 15 of its time.
TEST(PacketCloudMatrix, AFailedL2ChipCostsItsShareOfItsSubPlane) {
    auto const healthy = dispatch(LoadBalancing::spray);
    auto damaged = dispatch(LoadBalancing::spray, {{.pattern = "sn0.n*.l1.2-l2.05.*", .down = true}});
    EXPECT_GE(damaged.us, healthy.us);
    EXPECT_LE(damaged.us, healthy.us * 16 / 15);
    auto& chip = damaged.chips;
    std::sort(chip.begin(), chip.end());
    EXPECT_EQ(chip.front(), 0);
    auto const load = mean(healthy.chips);
    for (std::size_t c = 1; c < 97; ++c) EXPECT_NEAR(chip[c], load, 0.03 * load);
    for (std::size_t c = 97; c < chips; ++c) EXPECT_NEAR(chip[c], load * 16 / 15, 0.03 * load);
}

// Spraying deals a seventh to every sub-plane, so one at half rate takes twice the time. Links chosen by their queues
// give it half of what the others get: 7 / 6.5.
TEST(PacketCloudMatrix, ADegradedSubPlaneDoublesSprayedTimeAndCostsAdaptiveOnesItsRate) {
    std::vector<Degradation> const half{{.pattern = "sn0.*l1.2*", .rate_factor = 0.5}};
    EXPECT_NEAR(dispatch(LoadBalancing::spray, half).us / dispatch(LoadBalancing::spray).us, 2.0, 0.06);
    EXPECT_NEAR(dispatch(LoadBalancing::adaptive, half).us / dispatch(LoadBalancing::adaptive).us, 7 / 6.5, 0.05);
}

}  // namespace
}  // namespace orrery::testing
