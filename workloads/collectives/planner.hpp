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
    std::string reason;                // why this one: "named", "HCCL: full mesh inside a server"
    std::vector<std::uint32_t> order;  // plan member i is member order[i] of the group; empty: as they come
};

// What a caller wants.
struct CollectiveWish {
    CollectiveOp op{};
    std::int64_t bytes = 0;  // as CollectiveShape counts them
    std::uint32_t root = 0;
    // By name; "hccl" and "nccl:H100" choose by the rule of that library, the second one the protocol as well; empty
    // and "auto" take what the closed forms say is fastest.
    std::string algorithm;
    std::string protocol;  // by name; empty: none, which costs nothing
    std::shared_ptr<PairBytes const> pair_bytes;
};

// Pure: every process plans alike.
class CollectivePlanner {
  public:
    virtual ~CollectivePlanner() = default;
    // `ranks`: those of the members, in the order of the group. Throws InputError when nothing can carry it out.
    virtual PlannedCollective plan(CollectiveWish const& wish, std::span<RankId const> ranks) const = 0;
};

// Members are arranged by rank, whatever their order in the group, and fall into the fabric's blocks (nodes, leaves);
// all of them are one node where every way between them is through a single switch.
class FabricPlanner final : public CollectivePlanner {
  public:
    explicit FabricPlanner(Fabric const& fabric) : fabric_(&fabric) {}
    PlannedCollective plan(CollectiveWish const& wish, std::span<RankId const> ranks) const override;

  private:
    std::vector<std::vector<std::uint32_t>> levels(std::span<RankId const> sorted) const;

    Fabric const* fabric_;
};

}  // namespace orrery
