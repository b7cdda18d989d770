// SPDX-License-Identifier: Apache-2.0
// The flow engine: exact shares, what an epoch may cost, dead links, and its bins.
#include "core/random.hpp"
#include "tests/netmodels/engine_testing.hpp"

#include <numeric>

namespace orrery::testing {
namespace {

constexpr std::int64_t kb50 = 50'000;  // one microsecond of a 400 Gb/s port

std::vector<Transfer> random_transfers(std::uint64_t seed, std::uint32_t hosts, int count, bool incast) {
    RandomSequence random(seed, RandomStream::test, 2);
    std::vector<Transfer> transfers;
    for (int i = 0; i < count; ++i) {
        auto const source = incast ? 1 + random.below(hosts - 1) : random.below(hosts);
        auto const target = incast ? 0 : (source + 1 + random.below(hosts - 1)) % hosts;
        transfers.push_back({Time::from_ps(random.below(20'000'000)), source, target, 1 + random.below(2'000'000),
                             1 + random.below(5)});
    }
    return transfers;
}

TEST(FlowEngine, SharesAreExactWithoutAnEpoch) {
    SwitchBench const bench(3);
    auto engine = bench.flow({});
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 4 * kb50}, {1_us, 0, 2, 3 * kb50}});
    expect_time(done[0], 7_us);  // 1 alone, then half the port: 3 more take 6
    expect_time(done[1], 7_us);
}

TEST(FlowEngine, AnEngineIsSharedByWhatItFeeds) {
    SwitchBench const bench(3);
    auto engine = bench.flow({});
    auto const cores = engine.open_engine(10_GBps);
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, kb50, 1, cores}, {0_us, 0, 2, kb50, 1, cores}});
    expect_time(done[0], 10_us);
    expect_time(done[1], 10_us);
    engine.close_engine(cores);
}

TEST(FlowEngine, OneTransferBeginsAtMostOneEpochLate) {
    SwitchBench const bench(2);
    for (auto const start : {0_ns, 1_ns, 500_ns, 1999_ns, 2000_ns}) {
        auto engine = bench.flow(2_us);
        auto const done = drive(engine, *bench.fabric, {{start, 0, 1, 7 * kb50}})[0];
        EXPECT_GE(done, start + 7_us);
        EXPECT_LT(done, start + 7_us + 2_us);
        EXPECT_EQ((done - 7_us).ps() % (2_us).ps(), 0) << "shares change at multiples of the epoch only";
    }
}

TEST(FlowEngine, AShareIsPassedOnAtMostOneEpochLate) {
    SwitchBench const bench(3);
    auto engine = bench.flow(2_us);
    // Both at half rate. The first ends at 6.2 us and its half lies idle until 8, the next multiple of the epoch.
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 3 * kb50 + 5'000}, {0_us, 0, 2, 10 * kb50}});
    expect_time(done[0], 6200_ns);
    // 4 messages by 8 us, then 6 at the full rate.
    expect_time(done[1], 14_us);
    auto exact = bench.flow({});
    auto const sooner = drive(exact, *bench.fabric, {{0_us, 0, 1, 3 * kb50 + 5'000}, {0_us, 0, 2, 10 * kb50}});
    expect_time(sooner[1], 13'100_ns);
}

// Every transfer costs at most one epoch at its start and one at its end, to those that share its port.
TEST(FlowEngine, AnEpochCostsAtMostItselfPerStartAndEnd) {
    SwitchBench const bench(9);
    auto const epoch = 500_ns;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (bool const incast : {true, false}) {
            auto const transfers = random_transfers(seed, 9, 30, incast);
            auto exact_engine = bench.flow({}), epoch_engine = bench.flow(epoch);
            auto const exact = drive(exact_engine, *bench.fabric, transfers);
            auto const coarse = drive(epoch_engine, *bench.fabric, transfers);
            auto const last_exact = *std::max_element(exact.begin(), exact.end());
            auto const last_coarse = *std::max_element(coarse.begin(), coarse.end());
            EXPECT_LE(last_coarse, last_exact + epoch * 2 * static_cast<std::int64_t>(transfers.size()));
            if (incast) {
                EXPECT_GE(last_coarse, last_exact - 1_ns);  // one port: work is only ever delayed
            }
            for (std::size_t i = 0; i < transfers.size(); ++i) {
                auto const alone = transfers[i].start + transfer_time(transfers[i].bytes, 400_Gbps);
                EXPECT_GE(coarse[i], alone);
                EXPECT_LE(coarse[i], exact[i] + epoch * 2 * static_cast<std::int64_t>(transfers.size()));
            }
        }
}

// The shape of an exchange: all start together and share one port; shares change once, at the end.
TEST(FlowEngine, ASymmetricExchangeIsAtMostOneEpochOff) {
    SwitchBench const bench(8);
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < 8; ++s)
        for (std::uint32_t t = 0; t < 8; ++t)
            if (s != t) transfers.push_back({300_ns, s, t, 3 * kb50});
    auto engine = bench.flow(1_us);
    for (auto const done : drive(engine, *bench.fabric, transfers)) {
        EXPECT_GE(done, 300_ns + 21_us);
        EXPECT_LE(done, 300_ns + 21_us + 1_us);
    }
}

TEST(FlowEngine, ADeadLinkStarvesAndTheRestGoesOn) {
    SwitchBench bench(4);
    auto const dead = bench.fabric->route(RankId{0}, RankId{1});
    auto const alive = bench.fabric->route(RankId{0}, RankId{2});
    bench.fabric->degrade(std::vector{down("h1-switch.down")});
    for (auto const epoch : {0_us, 1_us}) {
        auto engine = bench.flow(epoch);
        engine.start(0_us, dead.bundles(), TransferEngine::no_engine, Rate::unlimited(), 1, kb50, 42);
        engine.start(0_us, alive.bundles(), TransferEngine::no_engine, Rate::unlimited(), 1, kb50, 43);
        engine.settle(0_us);
        std::vector<TransferDone> done;
        while (engine.next() < Time::infinity()) {
            auto const now = engine.next();
            engine.advance(now, done);
            engine.settle(now);
        }
        ASSERT_EQ(done.size(), 1U);
        EXPECT_EQ(done[0].cookie, 43U);
        expect_time(done[0].when, 1_us);  // the dead transfer takes nothing of the port
        EXPECT_EQ(engine.starved(), std::vector<std::uint64_t>{42});
    }
}

TEST(FlowEngine, BinsAddUpToTheBytes) {
    for (auto const epoch : {0_us, 1_us})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            SwitchBench const bench(5);
            auto const transfers = random_transfers(seed, 5, 60, false);
            auto engine = bench.flow(epoch);
            auto const done = drive(engine, *bench.fabric, transfers);
            auto const last = *std::max_element(done.begin(), done.end());
            Rows rows;
            engine.traffic().emit_until(last + 20_us, rows);
            std::vector<std::int64_t> binned(10, 0), sent(10, 0), count(10, 0);
            for (auto const& row : rows.bins) {
                binned[row.bundle] += row.wire_bytes;
                EXPECT_LE(row.wire_bytes, 10 * kb50);  // a bin of 10 us holds no more
            }
            for (auto const& t : transfers) {
                auto const way = bench.fabric->route(RankId{t.source}, RankId{t.target});
                for (auto const hop : way.bundles()) {
                    sent[hop.index()] += t.bytes;
                    ++count[hop.index()];
                }
            }
            for (std::size_t b = 0; b < 10; ++b) {
                EXPECT_LE(binned[b], sent[b] + count[b]);
                EXPECT_GE(binned[b], sent[b] - 1 - count[b]);
            }
        }
}

}  // namespace
}  // namespace orrery::testing
