// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/levels.hpp"

#include <fmt/format.h>

namespace orrery {

std::uint32_t node_size(CollectiveShape const& shape, std::size_t node) {
    auto const& first = shape.levels.front();
    return (node + 1 < first.size() ? first[node + 1] : shape.members) - first[node];
}

std::string lacks_equal_nodes(CollectiveShape const& shape) {
    if (shape.levels.empty() || shape.levels.front().size() < 2) return "it needs members on two nodes or more";
    for (std::size_t node = 1; node < shape.levels.front().size(); ++node)
        if (node_size(shape, node) != node_size(shape, 0))
            return fmt::format("it needs nodes of one size; node 0 has {} members, node {} has {}", node_size(shape, 0),
                               node, node_size(shape, node));
    return {};
}

EqualNodes equal_nodes(CollectiveShape const& shape) {
    auto const nodes = static_cast<std::uint32_t>(shape.levels.front().size());
    return {.nodes = nodes, .per_node = shape.members / nodes};
}

CollectiveShape shape_of_nodes(CollectiveShape const& shape) {
    auto above = shape;
    above.members = static_cast<std::uint32_t>(shape.levels.front().size());
    above.levels.erase(above.levels.begin());
    if (!above.level_algorithms.empty()) above.level_algorithms.erase(above.level_algorithms.begin());
    return above;
}

}  // namespace orrery
