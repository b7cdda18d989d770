// SPDX-License-Identifier: Apache-2.0
// The contention-free model: serialised at the sender's and at the receiver's port, and nowhere else.
#include "core/random.hpp"
#include "tests/netmodels/engine_testing.hpp"

#include <numeric>

namespace orrery::testing {
namespace {

constexpr std::int64_t kb50 = 50'000;  // one microsecond of a 400 Gb/s port

TEST(AnalyticEngine, OneTransferTakesBytesOverRate) {
    SwitchBench const bench(2);
    auto engine = bench.analytic();
    EXPECT_EQ(engine.next(), Time::infinity());
    EXPECT_EQ(drive(engine, *bench.fabric, {{3_us, 0, 1, 7 * kb50}})[0], 10_us);
}

TEST(AnalyticEngine, ASendersTransfersFollowEachOther) {
    SwitchBench const bench(3);
    auto engine = bench.analytic();
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 4 * kb50}, {1_us, 0, 2, 2 * kb50}});
    EXPECT_EQ(done[0], 4_us);
    EXPECT_EQ(done[1], 6_us);
}

TEST(AnalyticEngine, IncastIsSerialisedAtTheReceiver) {
    SwitchBench const bench(16);
    auto engine = bench.analytic();
    std::vector<Transfer> transfers;
    for (std::uint32_t source = 1; source < 16; ++source) transfers.push_back({0_us, source, 0, kb50});
    auto const done = drive(engine, *bench.fabric, transfers);
    for (std::uint32_t i = 0; i < 15; ++i) EXPECT_EQ(done[i], 1_us * (i + 1));
}

TEST(AnalyticEngine, DistinctPortsDoNotMeet) {
    SwitchBench const bench(4);
    auto engine = bench.analytic();
    for (auto const done : drive(engine, *bench.fabric, {{0_us, 0, 1, kb50}, {0_us, 1, 0, kb50}, {0_us, 2, 3, kb50}}))
        EXPECT_EQ(done, 1_us);
}

TEST(AnalyticEngine, TheEngineOfASenderBoundsIt) {
    SwitchBench const bench(2);
    auto engine = bench.analytic();
    auto const slow = engine.open_engine(5_GBps);
    EXPECT_EQ(drive(engine, *bench.fabric, {{0_us, 0, 1, kb50, 1, slow}})[0], 10_us);
    engine.close_engine(slow);
    EXPECT_EQ(engine.open_engine(50_GBps), slow);  // reused
}

TEST(AnalyticEngine, ADeadLinkStarves) {
    SwitchBench bench(3);
    auto const way = bench.fabric->route(RankId{0}, RankId{1});
    bench.fabric->degrade(std::vector{down("h1-switch.down")});
    auto engine = bench.analytic();
    engine.start(0_us, way.bundles(), TransferEngine::no_engine, Rate::unlimited(), 1, kb50, 42);
    EXPECT_EQ(engine.next(), Time::infinity());
    EXPECT_EQ(engine.starved(), std::vector<std::uint64_t>{42});
}

TEST(AnalyticEngine, BytesAreBookedWhereTheTransferEnds) {
    SwitchBench const bench(2);
    auto engine = bench.analytic();
    drive(engine, *bench.fabric, {{0_us, 0, 1, 4 * kb50}, {5_us, 0, 1, 4 * kb50}, {30_us, 0, 1, kb50}});
    Rows rows;
    engine.traffic().emit_until(30_us, rows);
    ASSERT_EQ(rows.bins.size(), 2U);  // up and down, both transfers in the first bin
    for (auto const& row : rows.bins) {
        EXPECT_EQ(row.bin, 0U);
        EXPECT_EQ(row.wire_bytes, 8 * kb50);
    }
    engine.traffic().emit_until(40_us, rows);
    ASSERT_EQ(rows.bins.size(), 4U);
    EXPECT_EQ(rows.bins[3].bin, 3U);
    EXPECT_EQ(rows.bins[3].wire_bytes, kb50);
}

// What a port has to carry is a bound for both models; the last transfer of the only busy port ends at it.
TEST(AnalyticEngine, NoPortIsFasterThanItsRate) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SwitchBench const bench(6);
        RandomSequence random(seed, RandomStream::test, 1);
        std::vector<Transfer> transfers;
        for (int i = 0; i < 40; ++i) {
            auto const source = random.below(6);
            transfers.push_back({{}, source, (source + 1 + random.below(5)) % 6, 1 + random.below(1'000'000)});
        }
        auto engine = bench.analytic();
        auto const done = drive(engine, *bench.fabric, transfers);
        for (std::uint32_t port = 0; port < 6; ++port) {
            std::int64_t sent = 0, received = 0;
            Time last_sent, last_received;
            for (std::size_t i = 0; i < transfers.size(); ++i) {
                if (transfers[i].source == port) sent += transfers[i].bytes, last_sent = std::max(last_sent, done[i]);
                if (transfers[i].target == port)
                    received += transfers[i].bytes, last_received = std::max(last_received, done[i]);
            }
            EXPECT_GE(last_sent, transfer_time(sent, 400_Gbps));
            EXPECT_GE(last_received, transfer_time(received, 400_Gbps));
        }
    }
}

}  // namespace
}  // namespace orrery::testing
