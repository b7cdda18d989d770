// SPDX-License-Identifier: Apache-2.0
// How domains fall into sites when sharing is delayed: who owns which bundle, and which sites an exchange concerns.
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"
#include "netmodels/exchange/layout.hpp"
#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace orrery {

using SiteId = Id<struct Site_>;  // one block of ranks in one domain; numbered by (domain, block)

// A site owns the bundles that begin or end at its ranks, and those between its switches and the next tier: a bundle
// without a rank at either end belongs to the lowest block of ranks below its lower switch. Bundles with no rank in use
// below are dealt to the sites of the domain. So every bundle has exactly one owner. Alike on every process.
class SiteMap {
  public:
    struct Site {
        DomainId domain;
        RankId first_rank;  // ranks [first_rank, first_rank + ranks) live here
        std::uint32_t ranks = 0;
        bool relays = false;            // a bundle of its own lies between ranks of other sites
        std::vector<BundleId> bundles;  // owned, ascending
        std::vector<SiteId> peers;      // sites that share an exchange with it, ascending

        bool holds(RankId rank) const { return rank >= first_rank && rank.value() < first_rank.value() + ranks; }
        std::uint32_t peer_index(SiteId other) const;
    };
    // The sites that serve one transfer, in order of travel: those that own a bundle of its route that can bind.
    struct Way {
        std::array<SiteId, RouteHops::size()> sites{};
        std::uint32_t count = 0;

        std::span<SiteId const> all() const { return {sites.data(), count}; }
        bool includes(SiteId site) const;
    };

    // layouts[g] is the group whose members sit on the ranks from first_ranks[g] on.
    SiteMap(Fabric const& fabric, std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks);

    std::uint32_t count() const { return static_cast<std::uint32_t>(sites_.size()); }
    Site const& site(SiteId id) const { return sites_[id.index()]; }
    SiteId site_of(DomainId domain, RankId rank) const;
    SiteId first_site(DomainId domain) const { return SiteId{first_site_[domain.index()]}; }
    // Sites that a group's exchanges concern in a domain, ascending.
    std::span<SiteId const> concerned(std::uint32_t group, DomainId domain) const;

    SiteId owner(BundleId bundle) const { return SiteId{owner_[bundle.index()]}; }
    std::uint32_t index_at_owner(BundleId bundle) const { return index_[bundle.index()]; }
    // May it ever be a bottleneck? Always, for those at a rank.
    bool binds(BundleId bundle) const { return binds_[bundle.index()] != 0; }
    Way way(Route const& route) const;

    // What one site learns of another is this old: the least latency of a route between two sites. Infinity: there is
    // no such route.
    Time notice() const { return notice_; }

  private:
    void find_sites(std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks);
    void own_bundles();
    void find_concerned(std::vector<GroupLayout> const& layouts, std::vector<RankId> const& first_ranks);
    std::uint32_t block_of(RankId rank) const { return rank.value() / per_block_; }

    Fabric const* fabric_;
    std::uint32_t per_block_;
    std::vector<Site> sites_;
    std::vector<std::uint32_t> first_site_;                           // per domain, and the end
    std::vector<std::uint32_t> first_block_;                          // per domain
    std::vector<std::vector<std::uint32_t>> site_of_block_;           // per domain, from its first block on
    std::vector<std::uint32_t> owner_, index_;                        // per bundle
    std::vector<std::uint8_t> binds_;                                 // per bundle
    std::vector<std::map<DomainId, std::vector<SiteId>>> concerned_;  // per group
    Time notice_ = Time::infinity();
};

}  // namespace orrery
