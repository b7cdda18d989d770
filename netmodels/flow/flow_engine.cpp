// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/flow_engine.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {
namespace {

std::vector<Rate> capacities(Fabric const& fabric, std::span<BundleId const> bundles) {
    std::vector<Rate> rates;
    rates.reserve(bundles.size());
    for (auto const bundle : bundles) rates.push_back(fabric.bundles()[bundle.index()].capacity);
    return rates;
}

}  // namespace

FlowEngine::FlowEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, std::int64_t error_ppm,
                       Time bin_width)
    : map_(&map),
      bundles_(map.bundles(domain)),
      capacity_(capacities(fabric, bundles_)),
      kernel_(capacity_),
      meter_(bundles_, bin_width, MaxMinKernel::rate_scale),
      coalescer_(error_ppm) {
    for (auto const bundle : bundles_) {
        auto const& b = fabric.bundles()[bundle.index()];
        binds_.push_back(b.offered > b.capacity ? 1 : 0);
    }
    kernel_.observe(this);
}

void FlowEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
                       std::int64_t wire_bytes, std::uint64_t cookie) {
    static_cast<void>(now);  // it moves no byte before settle()
    std::array<std::uint32_t, Route{}.hops.size() + 1> links;  // an engine and the hops
    std::uint32_t count = 0;
    auto narrowest = Rate::unlimited();
    auto const add = [&](std::uint32_t link) {
        ORRERY_ENSURE(count < links.size(), "a transfer with more than {} bottleneck candidates", links.size());
        links[count++] = link;
    };
    if (engine != no_engine) add(engine);
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
        auto const local = map_->local(hops[hop]);
        narrowest = std::min(narrowest, capacity_[local]);
        // The first hop always takes part, so that every transfer has a link and a load to account for.
        if (binds_[local] || hop == 0) add(local + 1);
    }
    kernel_.add({links.data(), count}, weight, wire_bytes, cookie, cap < narrowest ? cap : Rate::unlimited());
    if (!coalescer_.exact()) coalescer_.started({links.data(), count}, weight, wire_bytes);
}

void FlowEngine::settle(Time now) {
    if (!kernel_.needs_settle()) return;
    if (!coalescer_.exact()) pending_settle_ = coalescer_.due(now);
    if (coalescer_.exact() || pending_settle_ <= now) share(now);
}

void FlowEngine::share(Time now) {
    most_transfers_ = std::max<std::int64_t>(most_transfers_, kernel_.active_flows());
    kernel_.settle(now);
    if (!coalescer_.exact()) coalescer_.settled(now, kernel_);
    pending_settle_ = Time::infinity();
}

Time FlowEngine::next() const {
    return std::min(pending_settle_, kernel_.next_completion());
}

void FlowEngine::advance(Time now, std::vector<TransferDone>& done) {
    completions_.clear();
    kernel_.complete_until(now, completions_);
    for (auto const& completion : completions_) done.push_back({completion.cookie, completion.when});
    if (coalescer_.exact()) return;
    if (!completions_.empty()) coalescer_.finished(completions_.front().when);
    if (pending_settle_ <= now) share(now);
}

TransferEngine::Figures FlowEngine::figures() const {
    return {.shares = static_cast<std::int64_t>(kernel_.counters().settles),
            .longest_wait_ppm = coalescer_.longest_wait_ppm(),
            .most_transfers = most_transfers_,
            .memory_bytes = static_cast<std::int64_t>(kernel_.memory_bytes())};
}

void FlowEngine::load_changes(std::uint32_t link, Time now, std::int64_t load) {
    if (link == 0 || link > bundles_.size()) return;  // an engine or the cap of one transfer
    meter_.change(link - 1, now, load);
}

}  // namespace orrery
