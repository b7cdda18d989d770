// SPDX-License-Identifier: Apache-2.0
// How members fall into nodes and pods, for algorithms that work level by level.
#pragma once

#include "workloads/collectives/shape.hpp"

#include <cstdint>
#include <string>

namespace orrery {

// Equal nodes of consecutive members: member m is local m % per_node of node m / per_node.
struct EqualNodes {
    std::uint32_t nodes = 1, per_node = 1;

    std::uint32_t node(std::uint32_t member) const { return member / per_node; }
    std::uint32_t local(std::uint32_t member) const { return member % per_node; }
    std::uint32_t member(std::uint32_t node, std::uint32_t local) const { return node * per_node + local; }
};

// Members of node i of the lowest level.
std::uint32_t node_size(CollectiveShape const& shape, std::size_t node);
// Empty when the shape has at least two nodes, all of one size; otherwise what is missing.
std::string lacks_equal_nodes(CollectiveShape const& shape);
EqualNodes equal_nodes(CollectiveShape const& shape);
// One member per node, with the levels above.
CollectiveShape shape_of_nodes(CollectiveShape const& shape);

}  // namespace orrery
