// SPDX-License-Identifier: Apache-2.0
// Which domains carry a group's exchanges: computed once per group, alike on every process.
#pragma once

#include "core/ids.hpp"
#include "netmodels/exchange/exchange.hpp"
#include "netmodels/topology/fabric.hpp"

#include <map>
#include <vector>

namespace orrery {

// A pair of members belongs to the domain of its route. A group inside one super-node has one domain; a group across
// super-nodes has one per super-node and the scale-out plane's.
class GroupLayout {
  public:
    struct Part {
        DomainId domain;
        std::vector<std::uint32_t> senders_to;  // per member: how many members (itself included) reach it here; 0: none
        std::uint32_t participants = 0;         // members with a pair in this domain
        bool whole = false;                     // every pair of the group is here
    };

    GroupLayout(Fabric const& fabric, RankId first, std::uint32_t members);

    std::vector<Part> const& parts() const { return parts_; }
    Part const* part(DomainId domain) const;
    // Domains to which a member posts, ascending; a group of one posts nowhere.
    std::vector<DomainId> domains_of(std::uint32_t member) const;

  private:
    std::vector<Part> parts_;
};

}  // namespace orrery
