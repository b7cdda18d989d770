// SPDX-License-Identifier: Apache-2.0
// Transfers to messages, windows to time, deliveries to completions.
#include "netmodels/packet/packet_engine.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {
namespace {

RankId rank_at(Fabric const& fabric, NodeId node) {
    return fabric.nodes()[node.index()].rank;
}

}  // namespace

PacketEngine::PacketEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, PacketSettings const& settings)
    : fabric_(&fabric),
      compiled_(fabric, map, domain, settings),
      network_(make_packet_network(compiled_, map, settings)),
      width_(compiled_.lookahead()) {}

void PacketEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate, std::uint32_t,
                         std::int64_t wire_bytes, std::uint64_t cookie) {
    auto const link_of = [&](BundleId b) {
        return fabric_->links()[fabric_->members()[fabric_->bundles()[b.index()].first_member].index()];
    };
    std::uint32_t slot = 0;
    if (free_transfers_.empty()) {
        slot = static_cast<std::uint32_t>(transfers_.size());
        transfers_.emplace_back();
    } else {
        slot = free_transfers_.back();
        free_transfers_.pop_back();
    }
    Time latency;
    for (auto const hop : hops) latency += fabric_->bundles()[hop.index()].latency;
    transfers_[slot] = {cookie, latency.ps()};
    network_->offer({.source = rank_at(*fabric_, link_of(hops.front()).from),
                     .target = rank_at(*fabric_, link_of(hops.back()).to),
                     .offered = now,
                     .bytes = wire_bytes,
                     .cookie = slot,
                     .pace = engine == no_engine ? Rate{} : engines_[engine]});
}

// The end of the window in which the network next has something to do.
Time PacketEngine::next() const {
    auto const next = std::max(network_->next(), ran_until_);
    return network_->next() == Time::infinity() ? next : Window::containing(next, width_).end;
}

void PacketEngine::advance(Time now, std::vector<TransferDone>& done) {
    for (;;) {
        auto const next = network_->next();
        if (next == Time::infinity()) break;
        auto const window = Window::containing(std::max(next, ran_until_), width_);
        if (window.end > now) break;
        network_->run(window);
        ran_until_ = window.end;
    }
    auto& deliveries = network_->deliveries();
    if (deliveries.empty()) return;
    auto const first = done.size();
    for (auto const& delivery : deliveries) {
        auto const slot = static_cast<std::uint32_t>(delivery.cookie);
        auto const& transfer = transfers_[slot];
        done.push_back({transfer.cookie, Time::from_ps(delivery.when.ps() - transfer.latency)});
        free_transfers_.push_back(slot);
    }
    deliveries.clear();
    std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
              [](TransferDone const& a, TransferDone const& b) {
                  return a.when != b.when ? a.when < b.when : a.cookie < b.cookie;
              });
}

std::vector<std::uint64_t> PacketEngine::starved() const {
    auto cookies = network_->starved();
    for (auto& cookie : cookies) cookie = transfers_[cookie].cookie;
    return cookies;
}

}  // namespace orrery
