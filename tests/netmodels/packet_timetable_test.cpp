// SPDX-License-Identifier: Apache-2.0
// Links that slow down, fail and recover while packets are on their way.
#include "tests/netmodels/packet_testing.hpp"

#include <gmock/gmock.h>

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

Degradation between(Degradation what, std::int64_t from, Time until = Time::infinity()) {
    what.from = Time::from_ps(from);
    what.until = until;
    return what;
}

PacketSettings with(std::string transport, scenario::FabricSpec const& spec,
                    std::vector<Degradation> const& degradations) {
    PacketSettings settings;
    settings.transport = std::move(transport);
    settings.timeout = Time::from_ps(50'000'000);
    settings.timetable = link_timetable_of(spec, 1, degradations);
    return settings;
}

// Packets whose first bit leaves before `at` from a sender that begins at 0.
std::int64_t before(std::int64_t at) {
    return (at + ser - 1) / ser;
}

TEST(PacketTimetable, ASlowerLinkTakesLongerFromThenOn) {
    constexpr std::int64_t at = 10 * ser + 7;
    auto const spec = single_switch(4);
    for (auto const* transport : {"none", "window", "dcqcn"}) {
        PacketBench const bench(spec, with(transport, spec, {between(slower("h0-switch.up", 0.5), at)}));
        auto const run = bench.run({message(0, 1, 100 * 4096)});
        auto const last_leaves = before(at) * ser + (100 - before(at)) * 2 * ser;
        EXPECT_EQ(run.last.ps(), last_leaves + ser + 2 * wire) << transport;
    }
}

TEST(PacketTimetable, TheOnlyLinkIsWaitedFor) {
    constexpr std::int64_t at = 10 * ser + 7;
    auto const until = Time::from_ps(30'000'000);
    auto const spec = single_switch(4);
    for (auto const* link : {"h0-switch.up", "h1-switch.down"}) {
        PacketBench const bench(spec, with("none", spec, {between(down(link), at, until)}));
        auto const run = bench.run({message(0, 1, 100 * 4096)});
        // On the link down the packets are one packet time and one wire later.
        auto const first = link[1] == '0' ? at : at - ser - wire;
        auto const behind = link[1] == '0' ? ser + 2 * wire : wire;
        EXPECT_EQ(run.last.ps(), until.ps() + (100 - before(first)) * ser + behind) << link;
        EXPECT_EQ(run.counters.dropped, 0) << link;
    }
}

TEST(PacketTimetable, AFailedUplinkIsGoneAroundFromThenOn) {
    auto const spec = leaf_spine();
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 8; ++host) messages.push_back(message(host, host + 16, 1 << 20));
    auto const whole = PacketBench(spec, with("window", spec, {})).run(messages);
    for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp, LoadBalancing::adaptive}) {
        auto settings = with("window", spec, {between(down("leaf0-spine3.up"), 10'000'000)});
        settings.load_balancing = balancing;
        auto const run = PacketBench(spec, settings).run(messages);
        EXPECT_EQ(run.deliveries.size(), messages.size());
        EXPECT_TRUE(run.starved.empty());
        EXPECT_EQ(run.counters.bytes_delivered, std::int64_t{8} << 20);
        EXPECT_GT(run.last, whole.last);
    }
}

TEST(PacketTimetable, AFlowThatCannotFinishNamesTheLink) {
    auto const spec = leaf_spine();
    for (auto const* link : {"h63-leaf7.down", "h00-leaf0.up"}) {
        PacketBench const bench(spec, with("window", spec, {between(down(link), 10'000'000)}));
        auto const network = bench.network();
        network->offer(message(0, 63, 1 << 20));
        network->offer(message(1, 62, 1 << 20));
        network->offer(message(1, 63, 4096));
        if (link[1] == '6') network->offer(message(0, 61, 1 << 20));  // does not wait behind the first
        for (std::int64_t windows = 0; network->next() < Time::infinity() && windows < 100'000; ++windows)
            network->run(Window::containing(network->next(), bench.compiled().lookahead()));
        EXPECT_THAT(network->starved(), ::testing::ElementsAre(63U)) << link;
        EXPECT_THAT(network->diagnosis(), ::testing::HasSubstr(fmt::format("link {} is down", link)));
        EXPECT_EQ(network->deliveries().size(), link[1] == '6' ? 3U : 2U);
        auto const c = network->counters();
        EXPECT_EQ(c.injected, c.delivered + c.dropped + network->in_flight());
    }
}

TEST(PacketTimetable, DigestDependsOnNeitherProcessesNorWidth) {
    scenario::LeafSpine leaves;
    leaves.set_hosts(32);
    auto const spec = leaf_spine(leaves);
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 32; ++host)
        for (std::uint32_t k = 1; k < 32; k += 5) messages.push_back(message(host, (host + k) % 32, 9 * 4096 + 17 * k));
    for (auto const* transport : {"none", "window", "dcqcn", "receiver_credit", "hpcc"})
        for (auto const kind : {Lossless::off, Lossless::pfc, Lossless::credit}) {
            auto settings = with(
                transport, spec,
                {between(down("leaf0-spine*.up"), 3'333'333, Time::from_ps(6'123'456)),
                 between(slower("leaf1-spine2.down", 0.3), 2'000'000), between(down("leaf2-spine1.up"), 4'000'000)});
            settings.lossless = kind;
            settings.port_buffer = kind == Lossless::off ? PacketSettings::unbounded : 256 * 1024;
            PacketBench const bench(spec, settings);
            auto const expected = bench.run(messages);
            EXPECT_EQ(expected.counters.injected,
                      expected.counters.delivered + expected.counters.dropped + expected.in_flight);
            for (std::uint32_t const processes : {2U, 3U, 4U})
                ASSERT_EQ(bench.run(messages, processes, processes == 3 ? 2 : 1).digest.hex(), expected.digest.hex())
                    << transport << ' ' << static_cast<int>(kind) << ' ' << processes;
        }
}

}  // namespace
}  // namespace orrery::testing
