// SPDX-License-Identifier: Apache-2.0
// Shares of a sender: flows in turn, each for as many packets as its weight is worth.
#include "netmodels/packet/packet_engine.hpp"
#include "netmodels/packet/turns.hpp"
#include "tests/netmodels/packet_testing.hpp"

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

Message weighted(std::uint32_t source, std::uint32_t target, std::int64_t packets, std::uint32_t weight) {
    auto m = message(source, target, packets * 4096);
    m.weight = weight;
    return m;
}

std::vector<PacketSettings> kinds() {
    PacketSettings swept, queued, window;
    queued.keep_queues = true;
    window.transport = "window";
    return {swept, queued, window};
}

TEST(Turns, AreWorthTheWeightOverTheMean) {
    Turns turns;
    for (auto const weight : {1U, 1U, 4U}) turns.join(weight);
    std::uint32_t credit = turns.take(2, 4, 0);  // 4 of a mean of 2
    EXPECT_EQ(credit, 0U);
    turns.sent();
    EXPECT_TRUE(turns.open(2));
    turns.sent();
    EXPECT_FALSE(turns.open(2));
    credit = turns.take(0, 1, 0);
    EXPECT_FALSE(turns.open(0));
    EXPECT_EQ(credit, Turns::one / 2);
    EXPECT_EQ(turns.take(0, 1, credit), 0U);
    EXPECT_TRUE(turns.open(0));
}

// Weights in proportion to the bytes: all end together, within a turn. Alike, the small ones end early.
TEST(PacketTurns, SharesInProportionEndTogether) {
    for (auto const& settings : kinds()) {
        PacketBench const bench(single_switch(9), settings);
        for (bool const by_bytes : {true, false}) {
            std::vector<Message> messages;
            for (std::uint32_t k = 1; k <= 8; ++k) messages.push_back(weighted(0, k, 100 * k, by_bytes ? k : 1));
            auto const run = bench.run(messages);
            ASSERT_EQ(run.deliveries.size(), 8U);
            auto const all = 3600 * ser + ser + 2 * wire;
            auto earliest = Time::infinity();
            for (auto const& done : run.deliveries) earliest = std::min(earliest, done.when);
            EXPECT_NEAR(static_cast<double>(run.last.ps()), static_cast<double>(all), 3 * ser);
            if (by_bytes)
                EXPECT_GE(earliest.ps(), all - 40 * ser) << settings.transport;
            else
                EXPECT_NEAR(static_cast<double>(earliest.ps()), 800.0 * ser + 2 * wire, 16.0 * ser);
        }
    }
}

// What an exchange gives as weights reaches the turns.
TEST(PacketTurns, WeightsOfTransfersAreThoseOfTheirMessages) {
    auto const fabric = make_fabric(single_switch(3), 1);
    DomainMap const map(*fabric);
    PacketEngine engine(*fabric, map, DomainId{0}, {});
    for (std::uint32_t const target : {1U, 2U}) {
        auto const route = fabric->route(RankId{0}, RankId{target});
        engine.start({}, route.bundles(), TransferEngine::no_engine, route.cap, target == 1 ? 30 : 10,
                     (target == 1 ? 300 : 100) * 4096, target);
    }
    std::vector<TransferDone> done;
    while (engine.next() < Time::infinity()) engine.advance(engine.next(), done);
    ASSERT_EQ(done.size(), 2U);
    EXPECT_LE((done[1].when - done[0].when).ps(), 4 * ser);
}

TEST(PacketTurns, OneAnswerForBothEnginesAndAnyNumberOfProcesses) {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 64; ++host)
        for (std::uint32_t k = 1; k < 12; ++k)
            messages.push_back(weighted(host, (host + 5 * k) % 64, 3 + k * k, 1 + k % 7));
    std::vector<Time> first;
    for (auto const& settings : kinds()) {
        PacketBench const bench(leaf_spine(), settings);
        auto const alone = bench.run(messages);
        EXPECT_EQ(bench.run(messages, 3, 2, Split::scattered).digest, alone.digest) << settings.transport;
        if (settings.transport != "none") continue;
        std::vector<Time> times;
        for (auto const& done : alone.deliveries) times.push_back(done.when);
        if (first.empty()) first = times;
        EXPECT_EQ(times, first);
    }
}

}  // namespace
}  // namespace orrery::testing
