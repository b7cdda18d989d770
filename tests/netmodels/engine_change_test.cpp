// SPDX-License-Identifier: Apache-2.0
// The flow engine when links change under way, and with a congestion-control ramp.
#include "core/random.hpp"
#include "tests/netmodels/engine_testing.hpp"

namespace orrery::testing {
namespace {

constexpr std::int64_t kb50 = 50'000;  // one microsecond of a 400 Gb/s port

std::vector<CapacityChange> change(SwitchBench const& bench, std::initializer_list<CapacityChange> changes) {
    auto const way = bench.fabric->route(RankId{0}, RankId{1});
    std::vector<CapacityChange> list(changes);
    for (auto& c : list) c.bundle = way.hops[0];
    return list;
}

TEST(FlowEngine, ALinkSlowsAndRecovers) {
    SwitchBench const bench(3);
    auto const timetable = change(bench, {{2_us, {}, 100_Gbps}, {6_us, {}, 400_Gbps}});
    auto engine = bench.flow({.timetable = timetable});
    // 2 messages by 2 us, 1 more by 6, 7 more at the full rate; the transfer from another host does not notice.
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 10 * kb50}, {0_us, 2, 0, 3 * kb50}});
    expect_time(done[0], 13_us);
    expect_time(done[1], 3_us);
}

TEST(FlowEngine, ATransferWaitsForAFailedLink) {
    SwitchBench const bench(2);
    auto const timetable = change(bench, {{1_us, {}, Rate{}}, {50_us, {}, 400_Gbps}});
    auto engine = bench.flow({.timetable = timetable});
    expect_time(drive(engine, *bench.fabric, {{0_us, 0, 1, 3 * kb50}})[0], 52_us);
    auto late = bench.flow({.timetable = timetable});  // begins while the link is down
    expect_time(drive(late, *bench.fabric, {{20_us, 0, 1, 3 * kb50}})[0], 53_us);
    auto after = bench.flow({.timetable = timetable});  // and one that never meets it
    expect_time(drive(after, *bench.fabric, {{60_us, 0, 1, 3 * kb50}})[0], 63_us);
}

TEST(FlowEngine, FailingForAWhileCostsNoMoreThanForEver) {
    SwitchBench const bench(8);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        RandomSequence random(seed, RandomStream::test, 5);
        std::vector<Transfer> transfers;
        for (int i = 0; i < 40; ++i) {
            auto const s = random.below(8);
            transfers.push_back(
                {Time::from_ps(random.below(5'000'000)), s, (s + 1 + random.below(7)) % 8, 1 + random.below(400'000)});
        }
        auto const last = [&](std::vector<CapacityChange> const& timetable) {
            auto engine = bench.flow({.timetable = timetable});
            auto const done = drive(engine, *bench.fabric, transfers);
            return *std::max_element(done.begin(), done.end());
        };
        auto const never = last({});
        auto const while_ = last(change(bench, {{2_us, {}, 50_Gbps}, {9_us, {}, 400_Gbps}}));
        auto const ever = last(change(bench, {{2_us, {}, 50_Gbps}}));
        // A slower port can help another pair of ports by a little, so the law holds for the whole but for a hundredth.
        EXPECT_LE(static_cast<double>(never.ps()), static_cast<double>(while_.ps()) * 1.01) << seed;
        EXPECT_LE(static_cast<double>(while_.ps()), static_cast<double>(ever.ps()) * 1.01) << seed;
    }
}

TEST(FlowEngine, FoldedTransfersUnfoldWhenALinkChanges) {
    SwitchBench const bench(32);
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < 32; ++s)
        for (std::uint32_t t = 0; t < 32; ++t)
            if (s != t) transfers.push_back({0_us, s, t, kb50});
    auto const timetable = change(bench, {{5_us, {}, 100_Gbps}, {25_us, {}, 400_Gbps}});
    auto folded = bench.flow({.timetable = timetable}), plain = bench.flow({.timetable = timetable});
    plain.allow_folding(FlowEngine::Folds::no);
    EXPECT_EQ(drive(folded, *bench.fabric, transfers), drive(plain, *bench.fabric, transfers));
}

TEST(FlowEngine, SlowStartDoublesEveryRoundTrip) {
    SwitchBench const bench(2);
    // 12.5 kB in the first 4 us, then 25, 50, 100: 187.5 kB by 16 us, the rest at the port's 50 kB/us.
    FlowEngine::Settings const ramp{.initial_window_bytes = 12'500, .round_trip = 4_us};
    auto engine = bench.flow(ramp);
    expect_time(drive(engine, *bench.fabric, {{3_us, 0, 1, 387'500}})[0], 3_us + 20_us);
    // One that ends within its first window never meets the port.
    auto small = bench.flow(ramp);
    expect_time(drive(small, *bench.fabric, {{0_us, 0, 1, 6'250}})[0], 2_us);
    // Without a ramp.
    auto at_once = bench.flow(0);
    expect_time(drive(at_once, *bench.fabric, {{0_us, 0, 1, 6'250}})[0], Time::from_ps(125'000));
}

TEST(FlowEngine, ARampLeavesItsRestToOthers) {
    SwitchBench const bench(3);
    FlowEngine::Settings const ramp{.initial_window_bytes = 50'000, .round_trip = 4_us};
    auto engine = bench.flow(ramp);
    // Both from host 0: 12.5 kB/us each, then 25, which is half the port and the share of each from then on.
    auto const done = drive(engine, *bench.fabric, {{0_us, 0, 1, 150'000}, {0_us, 0, 2, 150'000}});
    expect_time(done[0], 8_us);
    expect_time(done[1], 8_us);
}

}  // namespace
}  // namespace orrery::testing
