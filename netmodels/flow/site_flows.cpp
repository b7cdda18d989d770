// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/site_flows.hpp"

#include <algorithm>
#include <array>

namespace orrery {

SiteFlows::SiteFlows(Fabric const& fabric, SiteMap const& map, SiteId site, Time epoch, Time bin_width)
    : fabric_(&fabric),
      map_(&map),
      me_(site),
      site_(&map.site(site)),
      kernel_(fabric.capacities(site_->bundles)),
      meter_(site_->bundles, bin_width, MaxMinKernel::rate_scale),
      far_(site_->peers.size()),
      epoch_(epoch) {
    kernel_.observe(this);
}

std::uint32_t SiteFlows::open_far_loop(std::int64_t level) {
    auto const loop = kernel_.open_link(Rate{});
    kernel_.impose_level(loop, level);
    return loop;
}

SiteFlows::FarLink& SiteFlows::far(BundleId bundle) {
    auto const owner = map_->owner(bundle);
    auto& links = far_[site_->peer_index(owner)];
    if (links.empty()) links.resize(map_->site(owner).bundles.size());
    return links[map_->index_at_owner(bundle)];
}

void SiteFlows::start(Route const& way, std::uint32_t loop, std::uint32_t weight, std::int64_t wire_bytes,
                      std::uint64_t cookie) {
    std::array<std::uint32_t, RouteHops::size() + 1> links;  // a loop and the hops
    std::uint32_t count = 0;
    auto narrowest = Rate::unlimited();
    if (loop != 0) links[count++] = loop;
    for (auto const hop : way.bundles()) {
        narrowest = std::min(narrowest, fabric_->bundles()[hop.index()].capacity);
        if (!map_->binds(hop)) continue;
        if (map_->owner(hop) == me_) {
            links[count++] = map_->index_at_owner(hop) + 1;
            continue;
        }
        auto& link = far(hop);
        auto const capacity = fabric_->bundles()[hop.index()].capacity;
        if (link.link == 0) link.link = kernel_.open_link(capacity);
        ++link.flows;
        // More than the whole bundle for this transfer alone: told of an emptier one.
        if (link.told > capacity.bits_per_s() * MaxMinKernel::rate_scale / weight)
            tell(link, hop, MaxMinKernel::unbounded);
        links[count++] = link.link;
    }
    kernel_.add({links.data(), count}, weight, wire_bytes, cookie, way.cap < narrowest ? way.cap : Rate::unlimited());
}

void SiteFlows::leave(Route const& way) {
    for (auto const hop : way.bundles()) {
        if (!map_->binds(hop) || map_->owner(hop) == me_) continue;
        auto& link = far(hop);
        if (--link.flows == 0) tell(link, hop, MaxMinKernel::unbounded);
    }
}

bool SiteFlows::hear(SiteId owner, std::uint32_t index, std::int64_t level) {
    auto& links = far_[site_->peer_index(owner)];
    if (links.empty() || links[index].flows == 0) return false;
    tell(links[index], map_->site(owner).bundles[index], level);
    return kernel_.needs_settle();
}

void SiteFlows::tell(FarLink& link, BundleId bundle, std::int64_t level) {
    if (level == link.told) return;
    link.told = level;
    if (level == MaxMinKernel::unbounded)
        kernel_.set_capacity(link.link, fabric_->bundles()[bundle.index()].capacity);
    else
        kernel_.impose_level(link.link, level);
}

Time SiteFlows::on_grid(Time when) const {
    if (epoch_ == Time{} || when == Time::infinity()) return when;
    return Time::from_ps((when.ps() + epoch_.ps() - 1) / epoch_.ps() * epoch_.ps());
}

Time SiteFlows::next(Time now) const {
    return on_grid(kernel_.needs_settle() ? now : kernel_.next_completion());
}

void SiteFlows::advance(Time now, std::vector<TransferDone>& done) {
    completions_.clear();
    kernel_.complete_until(now, completions_);
    for (auto const& completion : completions_) done.push_back({completion.cookie, completion.when});
}

bool SiteFlows::settle(Time now) {
    if (!kernel_.needs_settle() || on_grid(now) != now) return false;
    kernel_.settle(now);
    return true;
}

// A finish that has not been looked at changes the load from then on.
void SiteFlows::emit_until(Time now, TimelineSink& sink) {
    meter_.emit_until(std::min(now, kernel_.next_completion()), sink);
}

void SiteFlows::load_changes(std::uint32_t link, Time now, std::int64_t load) {
    if (link == 0 || link > site_->bundles.size()) return;  // a loop, a far link or the cap of one transfer
    meter_.change(link - 1, now, load);
}

}  // namespace orrery
