// SPDX-License-Identifier: Apache-2.0
// Routes of more hops than a packet carries: the same arithmetic, links and answers as on short ones.
#include "tests/netmodels/packet_testing.hpp"
#include "tests/netmodels/ring_fabric.hpp"

#include <gmock/gmock.h>

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;
constexpr std::uint32_t size = 7;

PacketBench ring(PacketSettings settings, std::uint32_t parallel = 1,
                 std::vector<Degradation> const& degradations = {}) {
    return {std::make_unique<RingFabric>(size, parallel), std::move(settings), degradations};
}

PacketSettings with(std::string transport, LoadBalancing balancing = LoadBalancing::spray) {
    PacketSettings settings;
    settings.transport = std::move(transport);
    settings.load_balancing = balancing;
    return settings;
}

// Every host to every other, in rotation.
std::vector<Message> all_to_all(std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t step = 1; step < size; ++step)
        for (std::uint32_t host = 0; host < size; ++host)
            messages.push_back(message(host, (host + step) % size, bytes));
    return messages;
}

TEST(PacketLongRoutes, ZeroLoadIsTheClosedFormUpToEightHops) {
    for (auto const switching : {Switching::store_and_forward, Switching::cut_through})
        for (auto const* transport : {"none", "window"}) {
            auto settings = with(transport);
            settings.leaf_switching = switching;
            auto const bench = ring(settings);
            for (std::uint32_t target = 1; target < size; ++target) {
                auto const hops = target + 2;
                auto const times_sent = switching == Switching::cut_through ? 1 : hops;
                EXPECT_EQ(bench.run({message(0, target, 4096)}).last.ps(), times_sent * ser + hops * wire);
                EXPECT_EQ(bench.compiled().zero_load(bench.fabric().route(RankId{0}, RankId{target}), 4096).ps(),
                          times_sent * ser + hops * wire);
            }
        }
}

TEST(PacketLongRoutes, BothEnginesAgree) {
    for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp, LoadBalancing::adaptive}) {
        auto settings = with("none", balancing);
        auto const swept = ring(settings, 3).run(all_to_all(50'000));
        settings.keep_queues = true;
        auto const queued = ring(settings, 3).run(all_to_all(50'000));
        ASSERT_EQ(swept.deliveries.size(), std::size_t{size * (size - 1)});
        for (std::size_t i = 0; i < swept.deliveries.size(); ++i)
            EXPECT_EQ(swept.deliveries[i].when, queued.deliveries[i].when);
        EXPECT_EQ(swept.counters.hops, queued.counters.hops);
    }
}

TEST(PacketLongRoutes, SameDigestOnAnyNumberOfProcessesAndAtAnyWidth) {
    for (auto const* transport : {"none", "window", "dcqcn", "receiver_credit", "hpcc"})
        for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp, LoadBalancing::adaptive}) {
            auto const bench = ring(with(transport, balancing), 2);
            auto const alone = bench.run(all_to_all(100'000));
            EXPECT_EQ(alone.counters.messages_done, size * (size - 1));
            EXPECT_EQ(alone.counters.injected, alone.counters.delivered);
            for (std::uint32_t const processes : {2U, 3U, 7U}) {
                EXPECT_EQ(bench.run(all_to_all(100'000), processes, 1, Split::scattered).digest, alone.digest)
                    << transport << " on " << processes;
                EXPECT_EQ(bench.run(all_to_all(100'000), processes, 3).digest, alone.digest)
                    << transport << " on " << processes << ", a third of the width";
            }
        }
}

// A packet sees a failed link four hops ahead of it, and passes over what leads there alone.
TEST(PacketLongRoutes, AFailedLinkFarAheadIsGoneAround) {
    auto settings = with("window");
    RingFabric const names(size, 2);
    for (std::uint32_t l = 0; l < names.links().size(); ++l)
        if (names.link_name(LinkId{l}) == "ring4.1")
            settings.timetable.push_back({.at = Time::from_ps(100 * ser), .link = LinkId{l}, .rate = {}});
    ASSERT_EQ(settings.timetable.size(), 1U);
    auto const bench = ring(settings, 2);
    auto const run = bench.run({message(0, 6, 200 * 4096)});
    EXPECT_EQ(run.counters.messages_done, 1);
    EXPECT_EQ(run.counters.blocked, 0);
    std::int64_t packets = 0;
    for (std::uint32_t p = 0; p < bench.compiled().port_count(); ++p)
        if (auto const name = bench.fabric().link_name(bench.compiled().link(p)); name == "ring4")
            packets = run.ports[p].packets;
    EXPECT_GT(packets, 150);  // of 200, half of them until the failure
    EXPECT_LT(packets, 200);
}

TEST(PacketLongRoutes, NothingIsLeftBehindAFailedOne) {
    auto settings = with("none");
    RingFabric const names(size);
    for (std::uint32_t l = 0; l < names.links().size(); ++l)
        if (names.link_name(LinkId{l}) == "ring4")
            settings.timetable.push_back({.at = Time::from_ps(30 * ser), .link = LinkId{l}, .rate = {}});
    auto const run = ring(settings).run({message(0, 6, 200 * 4096), message(5, 2, 200 * 4096)});
    EXPECT_THAT(run.starved, ::testing::ElementsAre(message(0, 6, 1).cookie));
    EXPECT_EQ(run.counters.messages_done, 1);
}

}  // namespace
}  // namespace orrery::testing
