// SPDX-License-Identifier: Apache-2.0
// The flow engine: exact shares, what a bounded error may cost, dead links, and its bins.
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

TEST(FlowEngine, SharesAreExact) {
    SwitchBench const bench(3);
    auto engine = bench.flow(0);
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 4 * kb50}, {1_us, 0, 2, 3 * kb50}});
    expect_time(done[0], 7_us);  // 1 alone, then half the port: 3 more take 6
    expect_time(done[1], 7_us);
}

TEST(FlowEngine, AnEngineIsSharedByWhatItFeeds) {
    SwitchBench const bench(3);
    auto engine = bench.flow(0);
    auto const cores = engine.open_engine(10_GBps);
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, kb50, 1, cores}, {0_us, 0, 2, kb50, 1, cores}});
    expect_time(done[0], 10_us);
    expect_time(done[1], 10_us);
    engine.close_engine(cores);
}

TEST(FlowEngine, StartsDoNotWait) {
    SwitchBench const bench(2);
    for (auto const start : {0_ns, 1_ns, 500_ns, 1999_ns, 2000_ns}) {
        auto engine = bench.flow(50'000);
        expect_time(drive(engine, *bench.fabric, {{start, 0, 1, 7 * kb50}})[0], start + 7_us);
    }
}

TEST(FlowEngine, AShareIsPassedOnLateByAThirdOfTheError) {
    SwitchBench const bench(3);
    std::vector<Transfer> const transfers{{0_us, 0, 1, 3 * kb50}, {0_us, 0, 2, 10 * kb50}};
    auto exact = bench.flow(0);
    expect_time(drive(exact, *bench.fabric, transfers)[1], 13_us);
    // The first lasts 6 us; 1 % of that its share lies idle, half a port.
    auto engine = bench.flow(30'000);
    auto const done = drive(engine, *bench.fabric, transfers);
    expect_time(done[0], 6_us);
    expect_time(done[1], 13_us + 30_ns);
    EXPECT_NEAR(static_cast<double>(engine.figures().longest_wait_ppm), 10'000, 200);
}

// All to all on one switch with sizes and starts as given by the seed: uniform, two sizes, or a few hot receivers.
std::vector<Transfer> skewed_exchange(std::uint64_t seed) {
    RandomSequence random(seed, RandomStream::test, 3);
    auto const hosts = 3 + random.below(14);
    auto const shape = random.below(4);
    auto const stagger = random.below(2) == 0 ? 1 : 5'000'000;  // ps
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < hosts; ++s) {
        auto const start = Time::from_ps(random.below(static_cast<std::uint32_t>(stagger)));
        for (std::uint32_t t = 0; t < hosts; ++t) {
            if (s == t) continue;
            std::int64_t bytes = 32'768 + random.below(65'536);
            if (shape == 1) bytes = random.below(2) == 0 ? 65'536 : 131'072;
            if (shape == 2) bytes = t < 2 ? 8 * bytes : bytes;
            if (shape == 3) bytes = bytes * 8 / (1 + (s * 7 + t * 3) % hosts);
            // Messages of 16 KiB: either equal shares or in proportion to them.
            auto const weight = seed % 2 == 0 ? 1 : static_cast<std::uint32_t>(1 + bytes / 16'384);
            transfers.push_back({start, s, t, bytes, weight});
        }
    }
    return transfers;
}

TEST(FlowEngine, TheErrorHoldsOnAThousandSkewedExchanges) {
    double largest = 0;
    std::int64_t exact_shares = 0, coarse_shares = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        SwitchBench const bench(16);
        auto const transfers = skewed_exchange(seed);
        for (auto const error_ppm : {10'000, 50'000}) {
            auto exact = bench.flow(0), coarse = bench.flow(error_ppm);
            auto const right = drive(exact, *bench.fabric, transfers);
            auto const near = drive(coarse, *bench.fabric, transfers);
            for (std::size_t i = 0; i < transfers.size(); ++i) {
                auto const lasts = static_cast<double>((right[i] - transfers[i].start).ps());
                auto const off = std::abs(static_cast<double>((near[i] - right[i]).ps())) / lasts / error_ppm * 1e6;
                largest = std::max(largest, off);
                ASSERT_LE(off, 1) << "seed " << seed << ", transfer " << i << ", error " << error_ppm;
            }
            exact_shares += exact.figures().shares;
            coarse_shares += coarse.figures().shares;
        }
    }
    EXPECT_GT(largest, 0.1) << "the bound is of use";
    EXPECT_LT(coarse_shares, exact_shares * 2 / 3) << "and it saves work";
    RecordProperty("largest_part_of_bound", std::to_string(largest));
}

// Ring-like exchanges of many equal transfers, some of them disturbed: whatever folds must not show.
std::vector<Transfer> alike_exchange(std::uint64_t seed) {
    RandomSequence random(seed, RandomStream::test, 4);
    constexpr std::uint32_t hosts = 32;
    auto const peers = 9 + random.below(20), step = 1 + random.below(2);
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < hosts; ++s)
        for (std::uint32_t k = 1; k <= peers; ++k) {
            auto const t = (s + k * step) % hosts;
            if (t != s) transfers.push_back({0_us, s, t, 40'000 + 10'000 * (k % 3), 1 + k % 2});
        }
    if (seed % 3 == 1) transfers.push_back({1_us, 3, 7, 500'000});  // joins them: they unfold
    if (seed % 3 == 2) transfers[random.below(hosts)].bytes += 1;   // one is different
    if (seed % 5 == 0) transfers.push_back({300_us, 1, 2, 9'000});  // comes after all are done
    return transfers;
}

TEST(FlowEngine, FoldingChangesNothing) {
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        for (auto const error_ppm : {0, 50'000}) {
            SwitchBench const bench(32);
            auto const transfers = alike_exchange(seed);
            auto folded = bench.flow(error_ppm), plain = bench.flow(error_ppm);
            plain.allow_folding(FlowEngine::Folds::no);
            ASSERT_EQ(drive(folded, *bench.fabric, transfers), drive(plain, *bench.fabric, transfers)) << seed;
            EXPECT_LE(folded.figures().shares, plain.figures().shares);  // a transfer that is alone needs none
            Rows folded_rows, plain_rows;
            folded.traffic().emit_until(1_ms, folded_rows);
            plain.traffic().emit_until(1_ms, plain_rows);
            ASSERT_EQ(folded_rows.bins.size(), plain_rows.bins.size());
            for (std::size_t i = 0; i < folded_rows.bins.size(); ++i)
                ASSERT_EQ(folded_rows.bins[i].wire_bytes, plain_rows.bins[i].wire_bytes) << seed << ", row " << i;
        }
}

// Few transfers at a time on many ports: most begin alone, some meet others on the way and go on with them.
TEST(FlowEngine, BeingAloneAtFirstChangesNothing) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomSequence random(seed, RandomStream::test, 6);
        std::vector<Transfer> transfers;
        Time at;
        for (int i = 0; i < 60; ++i) {
            auto const source = random.below(12), target = (source + 1 + random.below(11)) % 12;
            transfers.push_back({at, source, target, 1'000 + random.below(90'000)});
            at += Time::from_ps(random.below(3) * 400'000);
        }
        SwitchBench const bench(12);
        auto apart = bench.flow(0), plain = bench.flow(0);
        plain.allow_folding(FlowEngine::Folds::no);
        ASSERT_EQ(drive(apart, *bench.fabric, transfers), drive(plain, *bench.fabric, transfers)) << seed;
        EXPECT_LT(apart.figures().shares, plain.figures().shares);
        Rows apart_rows, plain_rows;
        apart.traffic().emit_until(1_ms, apart_rows);
        plain.traffic().emit_until(1_ms, plain_rows);
        ASSERT_EQ(apart_rows.bins.size(), plain_rows.bins.size());
        for (std::size_t i = 0; i < apart_rows.bins.size(); ++i)
            ASSERT_EQ(apart_rows.bins[i].wire_bytes, plain_rows.bins[i].wire_bytes) << seed << ", row " << i;
    }
}

TEST(FlowEngine, AUniformExchangeFoldsToOneClass) {
    SwitchBench const bench(128);
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < 128; ++s)
        for (std::uint32_t t = 0; t < 128; ++t)
            if (s != t) transfers.push_back({0_us, s, t, kb50});
    auto folded = bench.flow(0), plain = bench.flow(0);
    plain.allow_folding(FlowEngine::Folds::no);
    for (auto const done : drive(folded, *bench.fabric, transfers)) expect_time(done, 127_us);
    drive(plain, *bench.fabric, transfers);
    EXPECT_LT(folded.figures().memory_bytes, plain.figures().memory_bytes);
}

TEST(FlowEngine, ADeadLinkStarvesAndTheRestGoesOn) {
    SwitchBench bench(4);
    auto const dead = bench.fabric->route(RankId{0}, RankId{1});
    auto const alive = bench.fabric->route(RankId{0}, RankId{2});
    bench.fabric->degrade(std::vector{down("h1-switch.down")});
    for (auto const error_ppm : {0, 50'000}) {
        auto engine = bench.flow(error_ppm);
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
    for (auto const error_ppm : {0, 50'000})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            SwitchBench const bench(5);
            auto const transfers = random_transfers(seed, 5, 60, false);
            auto engine = bench.flow(error_ppm);
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
