// SPDX-License-Identifier: Apache-2.0
// The packet engine with queues: agreement with the sweep, lossless links, marking, loss and recovery, transports.
#include "tests/netmodels/packet_testing.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

PacketSettings over(std::string transport) {
    PacketSettings settings;
    settings.transport = std::move(transport);
    settings.cnp_interval = 50_us;
    return settings;
}

PacketSettings lossless(std::string transport, Lossless kind) {
    auto settings = over(std::move(transport));
    settings.lossless = kind;
    settings.port_buffer = 256 * 1024;
    return settings;
}

std::vector<Message> rotation(std::uint32_t hosts, std::uint32_t step, std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < hosts; ++host)
        for (std::uint32_t k = 1; k < hosts; k += step)
            messages.push_back(message(host, (host + k) % hosts, bytes + 17 * k));
    return messages;
}

std::vector<Message> incast(std::uint32_t sources, std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t source = 1; source <= sources; ++source) messages.push_back(message(source, 0, bytes));
    return messages;
}

TEST(PacketQueues, KeptQueuesGiveTheTimesOfTheSweep) {
    for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp})
        for (auto const switching : {Switching::cut_through, Switching::store_and_forward}) {
            auto settings = over("none");
            settings.load_balancing = balancing;
            settings.leaf_switching = settings.spine_switching = switching;
            auto kept = settings;
            kept.keep_queues = true;
            auto const messages = rotation(64, 7, 50'000);
            auto const swept = PacketBench(leaf_spine(), settings).run(messages);
            auto const queued = PacketBench(leaf_spine(), kept).run(messages);
            ASSERT_EQ(swept.deliveries.size(), queued.deliveries.size());
            for (std::size_t i = 0; i < swept.deliveries.size(); ++i)
                ASSERT_EQ(swept.deliveries[i].when, queued.deliveries[i].when) << i;
            EXPECT_EQ(swept.counters.hops, queued.counters.hops);
        }
}

TEST(PacketQueues, ZeroLoadIsTheClosedForm) {
    for (auto const* transport : {"window", "dcqcn", "delay", "receiver_credit", "hpcc"}) {
        PacketBench const bench(leaf_spine(), over(transport));
        EXPECT_EQ(bench.run({message(0, 1, 4096)}).last.ps(), 2 * (ser + wire)) << transport;
        EXPECT_EQ(bench.run({message(0, 63, 4096)}).last.ps(), 4 * (ser + wire)) << transport;
    }
}

TEST(PacketQueues, ASingleFlowFillsItsLink) {
    // A window of 64 packets is more than the 4 x 582 ns there and the 2 us back hold.
    for (auto const* transport : {"window", "dcqcn", "receiver_credit"}) {
        PacketBench const bench(leaf_spine(), over(transport));
        auto const run = bench.run({message(0, 63, 1000 * 4096)});
        EXPECT_EQ(run.last.ps(), 1000 * ser + 3 * ser + 4 * wire) << transport;
    }
}

TEST(PacketQueues, LosslessIncastTakesBytesOverRateAndDropsNothing) {
    for (auto const kind : {Lossless::pfc, Lossless::credit}) {
        PacketBench const bench(leaf_spine(), lossless("none", kind));
        auto const run = bench.run(incast(32, 1 << 20));
        auto const ideal = static_cast<double>(32 * 256 * ser + ser + 2 * wire);
        EXPECT_EQ(run.counters.dropped, 0);
        EXPECT_EQ(run.deliveries.size(), 32U);
        EXPECT_NEAR(static_cast<double>(run.last.ps()) / ideal, 1, 0.01);
        EXPECT_EQ(run.counters.pauses > 0, kind == Lossless::pfc);
        EXPECT_EQ(run.in_flight, 0);
    }
}

TEST(PacketQueues, BelowTheHeadroomPfcDropsAndNamesTheLink) {
    auto settings = lossless("window", Lossless::pfc);
    settings.port_buffer = 64 * 1024;
    settings.pfc_xoff = 60 * 1024;  // one link of 500 ns holds 50 kB more in a round trip
    PacketBench const bench(leaf_spine(), settings);
    auto const run = bench.run(incast(32, 1 << 19));
    EXPECT_GT(run.counters.dropped, 0);
    EXPECT_EQ(run.deliveries.size(), 32U);  // recovered by retransmission
    EXPECT_EQ(run.counters.injected, run.counters.delivered + run.counters.dropped);
}

TEST(PacketQueues, ADynamicThresholdPausesWithoutLoss) {
    auto settings = lossless("none", Lossless::pfc);
    settings.pfc_alpha = 0.125;
    settings.shared_buffer = 8 << 20;
    settings.port_buffer = 2 << 20;
    auto const run = PacketBench(leaf_spine(), settings).run(incast(32, 1 << 20));
    EXPECT_EQ(run.counters.dropped, 0);
    EXPECT_GT(run.counters.pauses, 0);
    EXPECT_EQ(run.deliveries.size(), 32U);
}

TEST(PacketQueues, LossyLinksAreRecoveredFrom) {
    for (auto const recovery : {Recovery::selective_repeat, Recovery::go_back_n})
        for (double const p : {1e-6, 1e-3, 0.1}) {
            auto settings = over("window");
            settings.recovery = recovery;
            settings.losses = {{"h00-leaf0.up", p}};
            settings.timeout = 50_us;
            if (recovery == Recovery::go_back_n) settings.load_balancing = LoadBalancing::ecmp;
            auto const run = PacketBench(leaf_spine(), settings).run({message(0, 63, 4000 * 4096)});
            ASSERT_EQ(run.deliveries.size(), 1U) << p;
            EXPECT_EQ(run.counters.bytes_delivered, 4000 * 4096);
            EXPECT_EQ(run.counters.injected, run.counters.delivered + run.counters.dropped);
            if (recovery == Recovery::go_back_n) continue;
            // Each packet is sent until it is not lost: mean 1/(1-p), variance p/(1-p)^2.
            auto const sigma = std::sqrt(4000 * p) / (1 - p);
            EXPECT_NEAR(static_cast<double>(run.counters.injected), 4000 / (1 - p), 3 * sigma + 1) << p;
        }
}

TEST(PacketQueues, ALinkThatLosesEverythingIsRefused) {
    auto settings = over("window");
    settings.losses = {{"h00-leaf0.up", 1.0}};
    PacketBench const bench(leaf_spine(), settings);
    EXPECT_THAT(input_error([&] { bench.run({message(0, 1, 1)}); }), ::testing::HasSubstr("nothing would arrive"));
}

TEST(PacketQueues, TrimmedPacketsAreAskedForAgain) {
    auto settings = over("receiver_credit");
    settings.port_buffer = 8 * 4096;
    settings.trimming = true;
    auto const run = PacketBench(leaf_spine(), settings).run(incast(32, 1 << 18));
    EXPECT_GT(run.counters.dropped, 0);
    EXPECT_EQ(run.deliveries.size(), 32U);
    EXPECT_EQ(run.counters.injected, run.counters.delivered + run.counters.dropped);
    EXPECT_NEAR(static_cast<double>(run.last.ps()), 32.0 * 64 * ser + ser + 2 * wire, 0.1 * 32 * 64 * ser);
}

TEST(PacketQueues, DcqcnSharesALinkFairly) {
    auto settings = lossless("dcqcn", Lossless::pfc);
    settings.port_buffer = 1 << 20;
    settings.ecn_kmin = 100 * 1024;
    settings.ecn_kmax = 400 * 1024;
    settings.ecn_pmax = 0.2;
    auto const run = PacketBench(single_switch(5), settings).run(incast(4, 32 << 20));
    double sum = 0, squares = 0;
    for (auto const& done : run.deliveries) {
        auto const rate = 1 / done.when.seconds();
        sum += rate, squares += rate * rate;
    }
    EXPECT_EQ(run.deliveries.size(), 4U);
    EXPECT_GT(run.counters.marks, 0);
    EXPECT_GT(sum * sum / (4 * squares), 0.95);  // Jain's index
}

// Two senders at 100 Gb/s into 25 Gb/s, marks from 400 to 1,625 kB: notifications at once keep the queue below the
// threshold of 1,500 KiB, notifications 55 us late do not.
// Eight senders to one host: after the first round trip HPCC keeps the link busy and its queue short, where a fixed
// window each leaves seven of them in the queue.
TEST(PacketQueues, HpccKeepsALinkBusyAndItsQueueShort) {
    constexpr auto ideal = 8 * (4 << 20) / 4096 * ser;
    auto const longest_late = [&](std::string transport, Time& last) {
        auto settings = over(std::move(transport));
        settings.trace = {.links = "h0-switch.down", .limit = 100'000};
        auto const run = PacketBench(single_switch(9), settings).run(incast(8, 4 << 20));
        last = run.last;
        std::int64_t queue = 0;
        for (auto const& row : run.trace)
            if (row.time.ps() > ideal / 4) queue = std::max(queue, row.queue_bytes);
        return queue;
    };
    Time steered, fixed;
    EXPECT_GT(longest_late("window", fixed), 1'500'000);
    EXPECT_LT(longest_late("hpcc", steered), 150'000);
    EXPECT_LT(steered.ps(), ideal + ideal / 8);  // eta leaves 5 %
    EXPECT_GE(steered.ps(), ideal);
}

TEST(PacketQueues, HpccSharesALinkFairly) {
    PacketBench const bench(single_switch(5), over("hpcc"));
    auto const run = bench.run(incast(4, 8 << 20));
    ASSERT_EQ(run.deliveries.size(), 4U);
    double sum = 0, squares = 0;
    for (auto const& done : run.deliveries) {
        auto const rate = 1 / done.when.seconds();
        sum += rate, squares += rate * rate;
    }
    EXPECT_GT(sum * sum / (4 * squares), 0.95);
}

TEST(PacketQueues, TelemetryTakesHalfOfTheSequenceNumber) {
    PacketBench const bench(single_switch(2), over("hpcc"));
    EXPECT_THAT(input_error([&] { bench.run({message(0, 1, std::int64_t{4096} << 16)}); }),
                ::testing::HasSubstr("at most 65535 with a transport whose packets carry telemetry"));
    EXPECT_EQ(bench.run({message(0, 1, 4'000 * 4096)}).counters.messages_done, 1);
}

TEST(PacketQueues, DelayedNotificationsLetPausesHappen) {
    auto const pauses = [](Time delay) {
        scenario::LeafSpine spec;
        spec.set_hosts(4);
        spec.set_hosts_per_leaf(2);
        spec.set_spines(1);
        spec.set_host_rate(100'000'000'000);
        auto settings = lossless("dcqcn", Lossless::pfc);
        settings.mtu = 1024;
        settings.window = 0;
        settings.port_buffer = 3 << 20;
        settings.pfc_xoff = 1500 * 1024;
        settings.ecn_kmin = 400'000;
        settings.ecn_kmax = 1'625'000;
        settings.ecn_pmax = 0.2;
        settings.cnp_interval = 4_us;
        settings.cnp_delay = delay;
        PacketBench const bench(leaf_spine(spec), settings, 1, {slower("h3-leaf1.down", 0.25)});
        auto const run = bench.run({message(0, 3, 32 << 20), message(1, 3, 32 << 20)});
        EXPECT_EQ(run.deliveries.size(), 2U);
        EXPECT_EQ(run.counters.dropped, 0);
        return run.counters.pauses;
    };
    EXPECT_EQ(pauses({}), 0);
    EXPECT_GT(pauses(55_us), 0);
}

TEST(PacketQueues, WithoutAWindowTooSmallAHeadroomIsRefusedByName) {
    auto settings = lossless("dcqcn", Lossless::pfc);
    settings.window = 0;
    settings.port_buffer = 64 * 1024;
    settings.pfc_xoff = 60 * 1024;
    PacketBench const bench(leaf_spine(), settings);
    EXPECT_THROW(bench.run(incast(32, 1 << 19)), InputError);
}

// Host 0 sends to a far host and to a near one, each message drawn when the one before has left: the process of the far
// host sees some of the uses of a slot of the sender's table only, unless slots are kept apart by process.
TEST(PacketQueues, SlotsOfFlowsAreUsedAgainOnSeveralProcesses) {
    struct NearAndFar final : MessageRule {
        bool message(RankId source, std::uint32_t number, Message& out) const override {
            if (source != RankId{0} || number == 12) return false;
            out = testing::message(0, number % 3 == 1 ? 1 : 63, 3 * 4096,
                                   Time::from_ps(std::int64_t{number} * 250'000'000));
            return true;
        }
    };
    NearAndFar const rule;
    for (auto const* transport : {"none", "window", "receiver_credit", "hpcc"}) {
        auto settings = over(transport);
        settings.keep_queues = true;
        PacketBench const bench(leaf_spine(), settings);
        auto const expected = bench.run({}, 1, 1, Split::dealt, &rule);
        EXPECT_EQ(expected.deliveries.size(), 12U);
        auto const run = bench.run({}, 2, 1, Split::dealt, &rule);
        EXPECT_EQ(run.digest.hex(), expected.digest.hex()) << transport;
        EXPECT_EQ(run.deliveries.size(), 12U) << transport;
    }
}

TEST(PacketQueues, DigestDependsOnNeitherProcessesNorPartitionNorWidth) {
    auto const messages = rotation(32, 5, 9 * 4096);
    scenario::LeafSpine spec;
    spec.set_hosts(32);
    for (auto const* transport : {"none", "window", "dcqcn", "delay", "receiver_credit", "hpcc"})
        for (auto const balancing : {LoadBalancing::spray, LoadBalancing::ecmp, LoadBalancing::adaptive})
            for (auto const kind : {Lossless::off, Lossless::pfc, Lossless::credit}) {
                auto settings = over(transport);
                settings.load_balancing = balancing;
                settings.lossless = kind;
                settings.keep_queues = true;
                settings.port_buffer = kind == Lossless::off ? 24 * 4096 : 256 * 1024;
                settings.trimming = kind == Lossless::off;
                settings.ecn_kmin = 4 * 4096;
                settings.ecn_kmax = 16 * 4096;
                PacketBench const bench(leaf_spine(spec), settings);
                auto const expected = bench.run(messages);
                if (settings.transport != "none" || kind != Lossless::off) {
                    EXPECT_EQ(expected.deliveries.size(), messages.size()) << transport;
                }
                EXPECT_EQ(expected.counters.injected, expected.counters.delivered + expected.counters.dropped);
                for (std::uint32_t const processes : {2U, 3U, 4U, 7U})
                    for (auto const split : {Split::dealt, Split::scattered}) {
                        auto const run = bench.run(messages, processes, processes == 3 ? 2 : 1, split);
                        ASSERT_EQ(run.digest.hex(), expected.digest.hex())
                            << transport << ' ' << static_cast<int>(balancing) << ' ' << static_cast<int>(kind) << ' '
                            << processes;
                    }
            }
}

}  // namespace
}  // namespace orrery::testing
