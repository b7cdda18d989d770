// SPDX-License-Identifier: Apache-2.0
#include "netmodels/analytic/analytic_engine.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr auto later = [](TransferDone const& a, TransferDone const& b) {
    return a.when != b.when ? a.when > b.when : a.cookie > b.cookie;
};

}  // namespace

AnalyticEngine::AnalyticEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Time bin_width)
    : map_(&map), engine_rate_(1), traffic_(bin_width) {
    for (auto const bundle : map.bundles(domain)) capacity_.push_back(fabric.bundles()[bundle.index()].capacity);
    sends_until_.resize(capacity_.size());
    receives_until_.resize(capacity_.size());
}

std::uint32_t AnalyticEngine::open_engine(Rate rate) {
    if (free_engines_.empty()) {
        engine_rate_.push_back(rate);
        return static_cast<std::uint32_t>(engine_rate_.size() - 1);
    }
    auto const engine = free_engines_.back();
    free_engines_.pop_back();
    engine_rate_[engine] = rate;
    return engine;
}

void AnalyticEngine::close_engine(std::uint32_t engine) {
    free_engines_.push_back(engine);
}

void AnalyticEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t,
                           std::int64_t wire_bytes, std::uint64_t cookie) {
    auto const first = map_->local(hops.front());
    auto const last = map_->local(hops.back());
    auto send_rate = std::min(cap, capacity_[first]);
    if (engine != no_engine) send_rate = std::min(send_rate, engine_rate_[engine]);
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
    auto const last = static_cast<std::uint32_t>(now.ps() / width_.ps());
    auto const open = std::partition(rows_.begin(), rows_.end(), [last](LinkBinRow const& r) { return r.bin < last; });
    std::sort(rows_.begin(), open, [](LinkBinRow const& a, LinkBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.bundle < b.bundle;
    });
    for (auto row = rows_.begin(); row != open;) {
        auto sum = *row;
        for (++row; row != open && row->bin == sum.bin && row->bundle == sum.bundle; ++row)
            sum.wire_bytes += row->wire_bytes;
        sink.add(sum);
    }
    rows_.erase(rows_.begin(), open);
}

}  // namespace orrery
