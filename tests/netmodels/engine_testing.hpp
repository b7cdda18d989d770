// SPDX-License-Identifier: Apache-2.0
// For tests of transfer engines: transfers with a start, stepped to the end the way a domain does it.
#pragma once

#include "tests/netmodels/exchange_testing.hpp"

#include <map>

namespace orrery::testing {

struct Transfer {
    Time start;
    std::uint32_t source = 0, target = 0;
    std::int64_t bytes = 0;
    std::uint32_t weight = 1;
    std::uint32_t engine = TransferEngine::no_engine;
};

// Completion per transfer; infinity when it never completes.
inline std::vector<Time> drive(TransferEngine& engine, Fabric const& fabric, std::vector<Transfer> const& transfers) {
    std::vector<Time> done(transfers.size(), Time::infinity());
    std::multimap<Time, std::size_t> starts;
    for (std::size_t i = 0; i < transfers.size(); ++i) starts.emplace(transfers[i].start, i);
    std::vector<TransferDone> finished;
    while (!starts.empty() || engine.next() < Time::infinity()) {
        auto const now = std::min(starts.empty() ? Time::infinity() : starts.begin()->first, engine.next());
        finished.clear();
        engine.advance(now, finished);
        for (auto const& f : finished) done[f.cookie] = f.when;
        for (; !starts.empty() && starts.begin()->first == now; starts.erase(starts.begin())) {
            auto const i = starts.begin()->second;
            auto const& t = transfers[i];
            auto const way = fabric.route(RankId{t.source}, RankId{t.target});
            engine.start(now, way.bundles(), t.engine, way.cap, t.weight, t.bytes, i);
        }
        engine.settle(now);
    }
    return done;
}

struct SwitchBench {
    explicit SwitchBench(std::uint32_t hosts) : fabric(make_fabric(single_switch(hosts), 1)), map(*fabric) {}
    std::unique_ptr<Fabric> fabric;
    DomainMap map;
    FlowEngine flow(std::int64_t error_ppm) const { return flow(FlowEngine::Settings{.error_ppm = error_ppm}); }
    FlowEngine flow(FlowEngine::Settings const& settings) const {
        return FlowEngine(*fabric, map, DomainId{0}, settings, 10_us);
    }
    AnalyticEngine analytic() const { return AnalyticEngine(*fabric, map, DomainId{0}, 10_us); }
};

}  // namespace orrery::testing
