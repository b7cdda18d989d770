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
      map_(&map),
      compiled_(fabric, map, domain, settings),
      rates_(map.bundles(domain).size()),
      network_(make_packet_network(compiled_, map, settings)),
      width_(settings.prompt ? Time::from_ps((compiled_.prompt_lookahead().ps() + 1) / 2) : compiled_.lookahead()) {
    for (std::uint32_t p = 0; p < compiled_.port_count(); ++p) {
        auto const rate = Rate::from_bits_per_s(compiled_.port(p).rate);
        auto& [flow, packet] = rates_[compiled_.port(p).bundle];
        packet = std::max(packet, rate);
        flow = settings.load_balancing == LoadBalancing::ecmp ? packet : flow + rate;
    }
}

// The flow alone on the fabric, as if all hops sent at once: what no schedule of packets can beat.
Time PacketEngine::ideal(std::span<BundleId const> hops, std::int64_t bytes, Time latency) const {
    Time slowest;
    for (auto const hop : hops) {
        auto const& rate = rates_[map_->local(hop)];
        if (rate.packet == Rate{}) continue;  // down: never over
        auto const first = std::min<std::int64_t>(bytes, compiled_.mtu());
        slowest = std::max({slowest, transfer_time(bytes, rate.flow), transfer_time(first, rate.packet)});
    }
    return slowest + latency;
}

void PacketEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate, std::uint32_t weight,
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
    transfers_[slot] = {cookie, latency.ps(), ideal(hops, wire_bytes, latency).ps(), wire_bytes};
    network_->offer({.source = rank_at(*fabric_, link_of(hops.front()).from),
                     .target = rank_at(*fabric_, link_of(hops.back()).to),
                     .offered = now,
                     .bytes = wire_bytes,
                     .cookie = slot,
                     .pace = engine == no_engine ? Rate{} : engines_[engine],
                     .weight = weight});
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
        flow_times_.add(transfer.bytes, delivery.when - delivery.offered, Time::from_ps(transfer.ideal));
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
