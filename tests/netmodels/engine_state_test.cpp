// SPDX-License-Identifier: Apache-2.0
// An engine that is saved and restored into a new one at every instant gives what one that lives on gives.
#include "core/random.hpp"
#include "tests/netmodels/engine_testing.hpp"
#include "tests/state_bytes.hpp"

#include <functional>

namespace orrery::testing {
namespace {

// Built in place: an engine holds pointers to itself.
using Make = std::function<std::unique_ptr<TransferEngine>()>;

// drive(), but the engine is replaced before every instant.
std::vector<Time> drive_restored(Make const& make, Fabric const& fabric, std::vector<Transfer> const& transfers) {
    std::vector<Time> done(transfers.size(), Time::infinity());
    std::multimap<Time, std::size_t> starts;
    for (std::size_t i = 0; i < transfers.size(); ++i) starts.emplace(transfers[i].start, i);
    auto engine = make();
    std::vector<TransferDone> finished;
    while (!starts.empty() || engine->next() < Time::infinity()) {
        auto const bytes = saved_bytes(*engine);
        engine = make();
        restore_bytes(*engine, bytes);
        auto const now = std::min(starts.empty() ? Time::infinity() : starts.begin()->first, engine->next());
        finished.clear();
        engine->advance(now, finished);
        for (auto const& f : finished) done[f.cookie] = f.when;
        for (; !starts.empty() && starts.begin()->first == now; starts.erase(starts.begin())) {
            auto const i = starts.begin()->second;
            auto const& t = transfers[i];
            auto const way = fabric.route(RankId{t.source}, RankId{t.target});
            engine->start(now, way.bundles(), t.engine, way.cap, t.weight, t.bytes, i);
        }
        engine->settle(now);
    }
    return done;
}

std::vector<Transfer> random_transfers(std::uint32_t hosts, int count) {
    RandomSequence random(3, RandomStream::test, 8);
    std::vector<Transfer> transfers;
    for (int i = 0; i < count; ++i) {
        auto const s = random.below(hosts);
        transfers.push_back({Time::from_ps(random.below(5'000'000)), s, (s + 1 + random.below(hosts - 1)) % hosts,
                             1 + random.below(400'000), 1 + random.below(3)});
    }
    return transfers;
}

// All pairs at once: they fold; one that comes later unfolds them.
std::vector<Transfer> equal_pairs(std::uint32_t hosts) {
    std::vector<Transfer> transfers{{3_us, 0, 5, 70'000}};
    for (std::uint32_t s = 0; s < hosts; ++s)
        for (std::uint32_t t = 0; t < hosts; ++t)
            if (s != t) transfers.push_back({0_us, s, t, 50'000 + (s % 2) * 1000});
    return transfers;
}

TEST(EngineState, AFlowEngineGoesOnWhereItWasSaved) {
    SwitchBench const bench(18);
    auto const port = bench.fabric->route(RankId{0}, RankId{1}).hops[0];
    std::vector<CapacityChange> const timetable = {{2_us, port, 100_Gbps}, {9_us, port, 400_Gbps}};
    for (auto const& settings : {FlowEngine::Settings{}, FlowEngine::Settings{.error_ppm = 20'000},
                                 FlowEngine::Settings{.initial_window_bytes = 12'500, .round_trip = 4_us},
                                 FlowEngine::Settings{.timetable = timetable}})
        for (auto const& transfers : {random_transfers(18, 120), equal_pairs(18)}) {
            auto const make = [&] { return std::unique_ptr<TransferEngine>(new FlowEngine(bench.flow(settings))); };
            EXPECT_EQ(drive_restored(make, *bench.fabric, transfers), drive(*make(), *bench.fabric, transfers));
        }
}

TEST(EngineState, AnAnalyticEngineGoesOnWhereItWasSaved) {
    SwitchBench const bench(8);
    auto const transfers = random_transfers(8, 60);
    auto const make = [&] { return std::unique_ptr<TransferEngine>(new AnalyticEngine(bench.analytic())); };
    EXPECT_EQ(drive_restored(make, *bench.fabric, transfers), drive(*make(), *bench.fabric, transfers));
}

}  // namespace
}  // namespace orrery::testing
