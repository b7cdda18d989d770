// SPDX-License-Identifier: Apache-2.0
// The collectives of a workload as its domains carry them out: plans, members, and which domains are concerned.
#pragma once

#include "core/ids.hpp"
#include "netmodels/topology/fabric.hpp"
#include "workloads/collectives/planner.hpp"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace orrery {

// What a workload says of its collectives. Pure.
class CollectiveSource {
  public:
    virtual ~CollectiveSource() = default;
    virtual std::uint32_t group_of(std::uint32_t collective) const = 0;
    virtual CollectiveWish wish(std::uint32_t collective) const = 0;
    // LPs of ranks, in the order of the group.
    virtual std::span<std::uint32_t const> members(std::uint32_t group) const = 0;
    // Those that the ways between its members cross, ascending.
    virtual std::span<DomainId const> domains_of(std::uint32_t group) const = 0;
};

// One collective, planned.
struct CollectiveCourse {
    PlannedCollective planned;
    std::uint32_t group = 0;
    std::vector<std::uint32_t> lps;        // by member of the plan
    std::vector<RankId> ranks;             // likewise, on the fabric
    std::vector<std::uint32_t> member_of;  // by member of the group: that of the plan
    std::span<LpId const> carriers;        // ascending; the first one tells the members

    CollectivePlan const& plan() const { return *planned.plan; }
    std::uint32_t members() const { return static_cast<std::uint32_t>(lps.size()); }
};

// One per process. Plans are made when the first domain opens a collective and dropped when the last one closes it, so
// memory follows what is in flight.
class CollectiveBook {
  public:
    struct Setup {
        CollectiveSource const* source = nullptr;
        CollectivePlanner const* planner = nullptr;
        Fabric const* fabric = nullptr;
        std::span<RankId const> place;     // per LP of a rank
        std::span<LpId const> domain_lps;  // per domain of the fabric; invalid where nothing is carried
    };
    explicit CollectiveBook(Setup const& setup) : setup_(setup) {}
    CollectiveBook(CollectiveBook const&) = delete;
    CollectiveBook& operator=(CollectiveBook const&) = delete;

    Fabric const& fabric() const { return *setup_.fabric; }
    CollectiveCourse const& open(std::uint32_t collective);
    void close(std::uint32_t collective);
    // The LPs of the domains of a group. Empty: it has one member.
    std::span<LpId const> carriers(std::uint32_t group);
    std::span<LpId const> carriers_of(std::uint32_t collective) {
        return carriers(setup_.source->group_of(collective));
    }
    // Is that domain one of those of the collective's group?
    bool carries(CollectiveCourse const& course, DomainId domain) const;

  private:
    struct Open {
        std::unique_ptr<CollectiveCourse> course;
        std::uint32_t users = 0;
    };
    Setup setup_;
    std::map<std::uint32_t, Open> open_;
    std::map<std::uint32_t, std::vector<LpId>> carriers_;
};

}  // namespace orrery
