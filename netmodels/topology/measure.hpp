// SPDX-License-Identifier: Apache-2.0
// Figures of any fabric counted on its links: hops and shortest paths from a node, the diameter, what two halves
// exchange.
#pragma once

#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

class FabricMeasure {
  public:
    explicit FabricMeasure(Fabric const& fabric);

    // Shortest ways over links that are up from a rank to every node; only switches pass anything on.
    struct Reach {
        std::vector<std::int64_t> hops;   // by node; -1: none
        std::vector<std::int64_t> paths;  // how many shortest ones; parallel links count each
    };
    Reach reach(NodeId from) const;
    // The most hops between two ranks. Cost: a search from each set of nodes that ranks are linked to.
    std::int64_t diameter() const;
    std::size_t attachments() const { return attached_.size(); }
    // The most that the lower half of the ranks can send to the upper half at once: the maximum flow over the links.
    Rate halves() const;

  private:
    Fabric const* fabric_;
    std::vector<std::uint32_t> first_;  // by node: its links in out_
    std::vector<std::uint32_t> out_;
    std::vector<NodeId> attached_;  // the first rank of each set of nodes that ranks are linked to
};

}  // namespace orrery
