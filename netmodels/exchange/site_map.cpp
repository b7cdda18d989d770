// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/site_map.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr auto none = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::uint32_t SiteMap::Site::peer_index(SiteId other) const {
    auto const at = std::lower_bound(peers.begin(), peers.end(), other);
    ORRERY_ENSURE(at != peers.end() && *at == other, "site {} is no peer", other.value());
    return static_cast<std::uint32_t>(at - peers.begin());
}

bool SiteMap::Way::includes(SiteId site) const {
    return std::find(sites.begin(), sites.begin() + count, site) != sites.begin() + count;
}

SiteMap::SiteMap(Fabric const& fabric, std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks)
    : fabric_(&fabric), per_block_(std::max(1U, fabric.ranks_per_block())) {
    for (auto const& bundle : fabric.bundles()) binds_.push_back(bundle.offered > bundle.capacity ? 1 : 0);
    find_sites(layouts, first_ranks);
    own_bundles();
    find_concerned(layouts, first_ranks);
}

void SiteMap::find_sites(std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks) {
    struct Span {
        std::uint32_t first = none, end = 0;
    };
    std::vector<std::map<std::uint32_t, Span>> blocks(fabric_->domain_count());  // ranks in use, by block
    for (std::size_t g = 0; g < layouts.size(); ++g)
        for (auto const& part : layouts[g].parts())
            for (std::uint32_t m = 0; m < part.senders_to.size(); ++m) {
                if (part.senders_to[m] == 0) continue;
                auto const rank = first_ranks[g].value() + m;
                auto& span = blocks[part.domain.index()][rank / per_block_];
                span.first = std::min(span.first, rank);
                span.end = std::max(span.end, rank + 1);
            }
    for (std::uint32_t d = 0; d < blocks.size(); ++d) {
        first_site_.push_back(count());
        first_block_.push_back(blocks[d].empty() ? 0 : blocks[d].begin()->first);
        auto& of_block = site_of_block_.emplace_back();
        if (!blocks[d].empty()) of_block.resize(blocks[d].rbegin()->first - first_block_[d] + 1, none);
        for (auto const& [block, span] : blocks[d]) {
            of_block[block - first_block_[d]] = count();
            sites_.push_back({.domain = DomainId{d},
                              .first_rank = RankId{span.first},
                              .ranks = span.end - span.first,
                              .bundles = {},
                              .peers = {}});
        }
    }
    first_site_.push_back(count());
}

SiteId SiteMap::site_of(DomainId domain, RankId rank) const {
    auto const& of_block = site_of_block_[domain.index()];
    auto const block = block_of(rank) - first_block_[domain.index()];  // wraps below the first
    return block < of_block.size() && of_block[block] != none ? SiteId{of_block[block]} : SiteId{};
}

void SiteMap::own_bundles() {
    auto const nodes = fabric_->nodes();
    auto const links = fabric_->links();
    // Per switch: its tier decides which end of a bundle is the lower one, and the lowest rank linked to it whose it
    // is.
    std::vector<std::uint32_t> below(nodes.size(), none);
    for (std::uint32_t n = 0; n < nodes.size(); ++n)
        if (nodes[n].rank.valid()) below[n] = nodes[n].rank.value();
    auto const lower = [&](NodeId at, NodeId other) {
        auto& lowest = below[at.index()];
        if (!nodes[at.index()].rank.valid() && nodes[other.index()].rank.valid())
            lowest = std::min(lowest, nodes[other.index()].rank.value());
    };
    for (auto const& link : links) {
        lower(link.from, link.to);
        lower(link.to, link.from);
    }
    auto const bundles = fabric_->bundles();
    owner_.resize(bundles.size(), none);
    index_.resize(bundles.size(), 0);
    for (std::uint32_t b = 0; b < bundles.size(); ++b) {
        auto const domain = bundles[b].domain;
        auto const first = first_site_[domain.index()], sites = first_site_[domain.index() + 1] - first;
        if (sites == 0) continue;
        auto const& link = links[fabric_->members()[bundles[b].first_member].index()];
        auto const from = below[link.from.index()], to = below[link.to.index()];
        bool const upward = nodes[link.from.index()].tier <= nodes[link.to.index()].tier;
        SiteId owner;
        for (auto const rank : {upward ? from : to, upward ? to : from})
            if (rank != none && !owner.valid()) owner = site_of(domain, RankId{rank});
        if (!owner.valid()) owner = SiteId{first + b % sites};
        owner_[b] = owner.value();
        auto& owned = sites_[owner.index()].bundles;
        index_[b] = static_cast<std::uint32_t>(owned.size());
        owned.push_back(BundleId{b});
    }
    for (auto const& site : sites_)
        ORRERY_ENSURE(site.bundles.size() < 0xffff, "a site owns {} bundles", site.bundles.size());
}

void SiteMap::find_concerned(std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks) {
    concerned_.resize(layouts.size());
    std::vector<std::uint32_t> met_by(count(), none);  // the last group that met the site
    for (std::uint32_t g = 0; g < layouts.size(); ++g) {
        auto const meet = [&](SiteId site) {
            if (met_by[site.index()] == g) return;
            met_by[site.index()] = g;
            concerned_[g][sites_[site.index()].domain].push_back(site);
        };
        auto const& parts = layouts[g].parts();
        auto const members = parts.empty() ? 0U : static_cast<std::uint32_t>(parts.front().senders_to.size());
        for (std::uint32_t s = 0; s < members; ++s)
            for (std::uint32_t t = 0; t < members; ++t) {
                if (s == t) continue;
                RankId const source{first_ranks[g].value() + s}, target{first_ranks[g].value() + t};
                auto const route = fabric_->route(source, target);
                auto const from = site_of(route.domain, source), to = site_of(route.domain, target);
                meet(from);
                if (from == to) continue;
                notice_ = std::min(notice_, route.latency);
                auto const sites = way(route);
                ORRERY_ENSURE(sites.includes(from) && sites.includes(to),
                              "no site owns an end of the way from rank {} to rank {}", source.value(), target.value());
                for (auto const site : sites.all()) {
                    meet(site);
                    if (site != from && site != to) sites_[site.index()].relays = true;
                }
            }
        for (auto& [domain, sites] : concerned_[g]) {
            std::sort(sites.begin(), sites.end());
            for (auto const a : sites)
                for (auto const b : sites)
                    if (a != b) sites_[a.index()].peers.push_back(b);
        }
    }
    for (auto& site : sites_) {
        std::sort(site.peers.begin(), site.peers.end());
        site.peers.erase(std::unique(site.peers.begin(), site.peers.end()), site.peers.end());
    }
}

std::span<SiteId const> SiteMap::concerned(std::uint32_t group, DomainId domain) const {
    return concerned_[group].at(domain);
}

SiteMap::Way SiteMap::way(Route const& route) const {
    Way way;
    for (auto const hop : route.bundles()) {
        if (!binds(hop)) continue;
        auto const site = owner(hop);
        if (!way.includes(site)) way.sites[way.count++] = site;
    }
    return way;
}

}  // namespace orrery
