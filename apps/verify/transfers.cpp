// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/transfers.hpp"

#include "core/check.hpp"
#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/flow/flow_engine.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace orrery {
namespace {

using namespace literals;

struct Offer {
    std::size_t index;
    Transfer transfer;
    Route route;
};

std::unique_ptr<TransferEngine> make_engine(NetworkModel model, Fabric const& fabric, DomainMap const& map,
                                            DomainId domain) {
    constexpr auto bin = 100_us;  // of the link meter, which nobody reads here
    if (model == NetworkModel::analytic) return std::make_unique<AnalyticEngine>(fabric, map, domain, bin);
    return std::make_unique<FlowEngine>(fabric, map, domain, FlowEngine::Settings{}, bin);
}

void run_domain(TransferEngine& engine, std::vector<Offer> offers, std::vector<Time>& arrival) {
    std::sort(offers.begin(), offers.end(), [](Offer const& a, Offer const& b) {
        return a.transfer.start != b.transfer.start ? a.transfer.start < b.transfer.start : a.index < b.index;
    });
    std::vector<TransferDone> done;
    auto next = offers.begin();
    for (;;) {
        auto const now = std::min(engine.next(), next == offers.end() ? Time::infinity() : next->transfer.start);
        if (now == Time::infinity()) break;
        engine.advance(now, done);
        for (; next != offers.end() && next->transfer.start == now; ++next)
            engine.start(now, next->route.bundles(), TransferEngine::no_engine, next->route.cap, next->transfer.weight,
                         next->transfer.bytes, static_cast<std::uint64_t>(next - offers.begin()));
        engine.settle(now);
    }
    ORRERY_ENSURE(done.size() == offers.size(), "{} of {} transfers ended", done.size(), offers.size());
    for (auto const& end : done) arrival[offers[end.cookie].index] = end.when + offers[end.cookie].route.latency;
}

}  // namespace

std::vector<Time> run_transfers(Fabric const& fabric, std::vector<Transfer> const& transfers, NetworkModel model) {
    std::map<DomainId, std::vector<Offer>> offers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        auto const way = fabric.route(RankId{transfers[i].source}, RankId{transfers[i].target});
        offers[way.domain].push_back({i, transfers[i], way});
    }
    DomainMap const map(fabric);
    std::vector<Time> arrival(transfers.size());
    for (auto const& [domain, of_domain] : offers) {
        auto const engine = make_engine(model, fabric, map, domain);
        run_domain(*engine, of_domain, arrival);
    }
    return arrival;
}

Time finish_of(Fabric const& fabric, std::vector<Transfer> const& transfers, NetworkModel model) {
    auto const arrivals = run_transfers(fabric, transfers, model);
    return *std::max_element(arrivals.begin(), arrivals.end());
}

}  // namespace orrery
