// SPDX-License-Identifier: Apache-2.0
// The open-loop packet engine against closed forms: zero load, one link, incast, permutation, hashing, processes.
#include "netmodels/packet/choose.hpp"
#include "tests/netmodels/packet_testing.hpp"

#include <bit>

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

PacketSettings with(Switching switching, LoadBalancing balancing = LoadBalancing::spray) {
    PacketSettings settings;
    settings.leaf_switching = settings.spine_switching = switching;
    settings.load_balancing = balancing;
    return settings;
}

// One hop: the two dies of a package, 270 GB/s, 200 ns.
TEST(PacketSweep, OneHopIsSerialisationAndWire) {
    PacketBench const bench(cloudmatrix(), with(Switching::store_and_forward));
    auto const done = bench.run({message(0, 1, 4096)}).last;
    EXPECT_EQ(done.ps(), 15'171 + 200'000);  // ceil(4096 B / 270 GB/s)
}

TEST(PacketSweep, ZeroLoadIsTheClosedFormForTwoAndFourHops) {
    auto const near = message(0, 1, 4096), far = message(0, 63, 4096);
    PacketBench const held(leaf_spine(), with(Switching::store_and_forward));
    PacketBench const cut(leaf_spine(), with(Switching::cut_through));
    EXPECT_EQ(held.run({near}).last.ps(), 2 * (ser + wire));
    EXPECT_EQ(held.run({far}).last.ps(), 4 * (ser + wire));
    EXPECT_EQ(cut.run({near}).last.ps(), ser + 2 * wire);
    EXPECT_EQ(cut.run({far}).last.ps(), ser + 4 * wire);
}

TEST(PacketSweep, LastPacketOfAMessageFollowsTheFirst) {
    // 100 packets, the last of 96 bytes, which takes 1,920 ps of each link.
    auto const bytes = 99 * 4096 + 96;
    PacketBench const held(leaf_spine(), with(Switching::store_and_forward));
    // The short packet waits for a full one only on the host's link down: on the way it goes over another spine.
    EXPECT_EQ(held.run({message(0, 1, bytes)}).last.ps(), 99 * ser + 1'920 + ser + 2 * wire);
    PacketBench const cut(leaf_spine(), with(Switching::cut_through));
    EXPECT_EQ(cut.run({message(0, 63, bytes)}).last.ps(), 99 * ser + 1'920 + 4 * wire);
}

TEST(PacketSweep, ZeroLoadFormulaOfTheFabricAgrees) {
    for (auto const switching : {Switching::store_and_forward, Switching::cut_through}) {
        PacketBench const bench(cloudmatrix(), with(switching));
        for (std::uint32_t const target : {1U, 5U, 40U})
            EXPECT_EQ(bench.run({message(0, target, 4096)}).last,
                      bench.compiled().zero_load(bench.fabric().route(RankId{0}, RankId{target}), 4096));
    }
}

TEST(PacketSweep, FasterOutputOfACutThroughSwitchDoesNotRunDry) {
    scenario::LeafSpine spec;
    spec.set_oversubscription(0.5);  // core links of 800 Gb/s
    PacketBench const bench(leaf_spine(spec), with(Switching::cut_through));
    // The first leaf waits half a serialisation, to end on the fast link together with the host's; the last leaf sends
    // at the host's rate again.
    EXPECT_EQ(bench.run({message(0, 63, 4096)}).last.ps(), ser / 2 + ser + 4 * wire);
}

TEST(PacketSweep, SeveralFlowsOnOneLinkFinishTogetherWithinOnePacketEach) {
    PacketBench const bench(single_switch(9), with(Switching::store_and_forward));
    std::vector<Message> messages;
    for (std::uint32_t target = 1; target <= 8; ++target) messages.push_back(message(0, target, 1 << 20));
    auto const run = bench.run(messages);
    auto const all = std::int64_t{8} * 256 * ser;
    for (auto const& done : run.deliveries) {
        EXPECT_LE(done.when.ps(), all + ser + 2 * wire);
        EXPECT_GE(done.when.ps(), all - 8 * ser + ser + 2 * wire);
    }
}

TEST(PacketSweep, IncastTakesBytesOverRate) {
    scenario::LeafSpine spec;
    spec.set_hosts(64);
    PacketBench const bench(leaf_spine(spec), with(Switching::store_and_forward));
    std::vector<Message> messages;
    for (std::uint32_t source = 1; source <= 32; ++source) messages.push_back(message(source, 0, 1 << 20));
    // The target's link never idles from the first packet of a near source on.
    EXPECT_EQ(bench.run(messages).last.ps(), 32 * 256 * ser + ser + 2 * wire);
}

TEST(PacketSweep, SprayedPermutationIsNearIdealAndHashedIsTheFullestLink) {
    std::vector<Message> messages;
    constexpr std::int64_t bytes = 1 << 20;
    for (std::uint32_t host = 0; host < 64; ++host) messages.push_back(message(host, (host + 8) % 64, bytes));
    PacketBench const sprayed(leaf_spine(), with(Switching::store_and_forward));
    auto const ideal = 256 * ser + 3 * ser + 4 * wire;
    EXPECT_LT(static_cast<double>(sprayed.run(messages).last.ps()), 1.05 * static_cast<double>(ideal));

    PacketBench const hashed(leaf_spine(), with(Switching::store_and_forward, LoadBalancing::ecmp));
    auto const run = hashed.run(messages);
    std::int64_t most = 0;
    for (std::uint32_t p = 0; p < run.ports.size(); ++p) most = std::max(most, run.ports[p].bytes);
    EXPECT_GT(most, bytes);
    EXPECT_NEAR(static_cast<double>(run.last.ps()), static_cast<double>(most / bytes * 256 * ser + 4 * wire),
                8.0 * ser);
}

// 16 MiB per host take 335.5 us at 400 Gb/s.
TEST(PacketSweep, ASprayedPermutationOf16MiBTakesItsBytesOverTheRate) {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 64; ++host) messages.push_back(message(host, (host + 8) % 64, 16 << 20));
    PacketBench const bench(leaf_spine(), with(Switching::store_and_forward));
    auto const ideal = 4096 * ser + 3 * ser + 4 * wire;
    EXPECT_NEAR(static_cast<double>(bench.run(messages).last.ps()) / static_cast<double>(ideal), 1, 0.05);
}

// 100 MB take 2 ms at 400 Gb/s, and 10 ms on the way: windows lie far apart, and all packets are in flight at once.
TEST(PacketSweep, ALinkOfTenMillisecondsIsNothingSpecial) {
    auto spec = single_switch(2);
    spec.mutable_single_switch()->set_link_latency(5'000'000'000);
    auto settings = with(Switching::store_and_forward);
    auto kept = settings;
    kept.keep_queues = true;
    constexpr std::int64_t packets = 24'415;  // 100 MB and a little
    for (auto const& of : {settings, kept}) {
        auto const run = PacketBench(spec, of).run({message(0, 1, packets * 4096)});
        EXPECT_EQ(run.last.ps(), packets * ser + ser + 10'000'000'000);  // 12.0 ms
        EXPECT_EQ(run.counters.delivered, packets);
    }
}

TEST(PacketSweep, AdaptiveBalancingKeepsAPermutationNearIdeal) {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 64; ++host) messages.push_back(message(host, (host + 8) % 64, 1 << 20));
    PacketBench const bench(leaf_spine(), with(Switching::store_and_forward, LoadBalancing::adaptive));
    EXPECT_LT(static_cast<double>(bench.run(messages).last.ps()), 1.05 * (259.0 * ser + 4 * wire));
}

// 8 balls in 8 bins leave 8 (1 - (7/8)^8) = 5.25 bins in use.
TEST(PacketSweep, EightHashedFlowsUseFiveAndAQuarterOfEightUplinks) {
    PacketBench const bench(leaf_spine(), with(Switching::store_and_forward));
    std::int64_t used = 0;
    constexpr int seeds = 10'000;
    for (int seed = 0; seed < seeds; ++seed) {
        PacketSettings settings = with(Switching::store_and_forward, LoadBalancing::ecmp);
        settings.seed = static_cast<std::uint64_t>(seed);
        LinkChooser const chooser(bench.compiled(), settings);
        std::uint32_t links = 0;
        for (std::uint32_t host = 0; host < 8; ++host) {
            Heading const heading{.origin = host, .last = 2 * (host + 8) + 1};
            links |= 1U << chooser.position(heading, 64, 8, false);
        }
        used += std::popcount(links);
    }
    EXPECT_NEAR(static_cast<double>(used) / seeds, 5.25, 0.05);
}

TEST(PacketSweep, ATailDropsWhatDoesNotFitAndEveryPacketIsAccountedFor) {
    auto settings = with(Switching::store_and_forward);
    settings.port_buffer = 8 * 4096;
    PacketBench const bench(single_switch(9), settings);
    std::vector<Message> messages;
    for (std::uint32_t source = 1; source <= 8; ++source) messages.push_back(message(source, 0, 1 << 20));
    auto const run = bench.run(messages);
    EXPECT_GT(run.counters.dropped, 0);
    EXPECT_EQ(run.counters.injected, run.counters.delivered + run.counters.dropped);
    EXPECT_EQ(run.starved.size(), 8U - run.deliveries.size());
    for (auto const& port : run.ports) EXPECT_LE(port.max_queue, 8 * 4096);
}

TEST(PacketSweep, TiesFavourNobody) {
    // Eight sources send to one port in lockstep: with a fair tie-break no source is first in every round.
    PacketBench const bench(single_switch(9), with(Switching::store_and_forward));
    std::vector<Message> messages;
    for (std::uint32_t source = 1; source <= 8; ++source) messages.push_back(message(source, 0, 64 * 4096));
    auto const run = bench.run(messages);
    for (auto const& done : run.deliveries) EXPECT_GT(done.when.ps(), (8 * 64 - 60) * ser);
}

struct Placement {
    std::uint32_t processes;
    std::int64_t width_divisor;
    Split split;
};

std::vector<Placement> placements() {
    std::vector<Placement> all;
    for (std::uint32_t const p : {1U, 2U, 3U, 4U, 7U})
        for (std::int64_t const w : {1, 3})
            for (auto const s : {Split::dealt, Split::scattered}) all.push_back({p, w, s});
    return all;
}

TEST(PacketSweep, DigestDependsOnNeitherProcessesNorPartitionNorWidth) {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 64; ++host)
        for (std::uint32_t k = 1; k < 64; k += 5)
            messages.push_back(message(host, (host + k) % 64, 3 * 4096 + 17 * k, Time::from_ps(host % 3 * 400'000)));
    for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp, LoadBalancing::adaptive}) {
        PacketBench const bench(leaf_spine(), with(Switching::store_and_forward, balancing));
        auto const expected = bench.run(messages).digest;
        for (auto const& at : placements()) {
            auto const run = bench.run(messages, at.processes, at.width_divisor, at.split);
            EXPECT_EQ(run.digest.hex(), expected.hex()) << at.processes << " processes, width/" << at.width_divisor;
            EXPECT_EQ(run.deliveries.size(), messages.size());
            EXPECT_EQ(run.counters.injected, run.counters.delivered);
        }
    }
}

TEST(PacketSweep, TenThousandSimultaneousArrivalsAtOnePort) {
    scenario::LeafSpine spec;
    spec.set_hosts(10'048);
    spec.set_hosts_per_leaf(64);
    PacketBench const bench(leaf_spine(spec), with(Switching::store_and_forward));
    std::vector<Message> messages;
    for (std::uint32_t source = 1; source <= 10'000; ++source) messages.push_back(message(source, 0, 4096));
    auto const expected = bench.run(messages).digest;
    for (auto const& at : {Placement{2, 1, Split::dealt}, Placement{3, 2, Split::scattered}})
        EXPECT_EQ(bench.run(messages, at.processes, at.width_divisor, at.split).digest.hex(), expected.hex());
}

TEST(PacketSweep, AFailedUplinkIsGoneAround) {
    PacketBench const bench(leaf_spine(), with(Switching::store_and_forward), 1, {down("leaf0-spine3.up")});
    auto const run = bench.run({message(0, 63, 1 << 20), message(63, 0, 1 << 20)});
    EXPECT_EQ(run.deliveries.size(), 2U);
    EXPECT_EQ(run.counters.dropped, 0);
    // The spine below the failed link is not tried either on the way down to that leaf.
    PacketBench const below(leaf_spine(), with(Switching::store_and_forward), 1, {down("leaf7-spine3.down")});
    EXPECT_EQ(below.run({message(0, 63, 1 << 20)}).counters.blocked, 0);
}

}  // namespace
}  // namespace orrery::testing
