// SPDX-License-Identifier: Apache-2.0
#include "netmodels/analytic/analytic_engine.hpp"

#include "netmodels/exchange/bin_rows.hpp"
#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr auto later = [](TransferDone const& a, TransferDone const& b) {
    return a.when != b.when ? a.when > b.when : a.cookie > b.cookie;
};

}  // namespace

AnalyticEngine::AnalyticEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Time bin_width)
    : map_(&map), capacity_(fabric.capacities(map.bundles(domain))), traffic_(bin_width) {
    sends_until_.resize(capacity_.size());
    receives_until_.resize(capacity_.size());
}

void AnalyticEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t,
                           std::int64_t wire_bytes, std::uint64_t cookie) {
    auto const first = map_->local(hops.front());
    auto const last = map_->local(hops.back());
    auto send_rate = std::min(cap, capacity_[first]);
    if (engine != no_engine) send_rate = std::min(send_rate, engines_[engine]);
    auto const receive_rate = std::min(cap, capacity_[last]);
    if (send_rate == Rate{} || receive_rate == Rate{}) {
        starved_.push_back(cookie);
        return;
    }
    sends_until_[first] = std::max(sends_until_[first], now) + transfer_time(wire_bytes, send_rate);
    receives_until_[last] = std::max(receives_until_[last], now) + transfer_time(wire_bytes, receive_rate);
    auto const done = std::max(sends_until_[first], receives_until_[last]);
    for (auto const hop : hops) traffic_.add(hop, done, wire_bytes);
    pending_.push_back({cookie, done});
    std::push_heap(pending_.begin(), pending_.end(), later);
}

void AnalyticEngine::advance(Time now, std::vector<TransferDone>& done) {
    while (!pending_.empty() && pending_.front().when <= now) {
        done.push_back(pending_.front());
        std::pop_heap(pending_.begin(), pending_.end(), later);
        pending_.pop_back();
    }
}

void AnalyticEngine::Bins::add(BundleId bundle, Time when, std::int64_t bytes) {
    rows_.push_back({bundle.value(), static_cast<std::uint32_t>(when.ps() / width_.ps()), bytes});
}

void AnalyticEngine::Bins::emit_until(Time now, TimelineSink& sink) {
    emit_closed(rows_, static_cast<std::uint32_t>(now.ps() / width_.ps()), sink);
}

}  // namespace orrery
