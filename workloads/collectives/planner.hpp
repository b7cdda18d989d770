// SPDX-License-Identifier: Apache-2.0
// Which algorithm and protocol carry out a collective.
#pragma once

#include "core/ids.hpp"
#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/protocol.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

class Fabric;

struct PlannedCollective {
    std::unique_ptr<CollectivePlan> plan;
    CollectiveProtocol protocol;
    std::string algorithm;
    std::string reason;                // why this one: "named", "fewest steps below 64 KiB"
    std::vector<std::uint32_t> order;  // plan member i is member order[i] of the group; empty: as they come
};

// What a caller wants.
struct CollectiveWish {
    CollectiveOp op{};
    std::int64_t bytes = 0;  // as CollectiveShape counts them
    std::uint32_t root = 0;
    std::string algorithm, protocol;  // by name; empty: chosen
    std::shared_ptr<PairBytes const> pair_bytes;
};

// Pure: every process plans alike.
class CollectivePlanner {
  public:
    virtual ~CollectivePlanner() = default;
    // `ranks`: those of the members, in the order of the group. Throws InputError when nothing can carry it out.
    virtual PlannedCollective plan(CollectiveWish const& wish, std::span<RankId const> ranks) const = 0;
};

// By name, else the first algorithm, in alphabetical order, that can.
class NamedPlanner final : public CollectivePlanner {
  public:
    PlannedCollective plan(CollectiveWish const& wish, std::span<RankId const> ranks) const override;
};

}  // namespace orrery
