// SPDX-License-Identifier: Apache-2.0
// Shapes of collectives to try algorithms on.
#pragma once

#include "workloads/collectives/algorithm.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace orrery::testing {

// Member s has (7 s + 3 t) % 11 bytes for member t: uneven, some zero.
class UnevenPairs final : public PairBytes {
  public:
    std::int64_t bytes(std::uint32_t source, std::uint32_t target) const override {
        return (7 * source + 3 * target) % 11;
    }
};

// Nodes of `per_node` members, and pods of two nodes if there are more than two; the last ones may be smaller.
inline std::vector<std::vector<std::uint32_t>> levels_of(std::uint32_t members, std::uint32_t per_node) {
    std::vector<std::vector<std::uint32_t>> levels(1);
    for (std::uint32_t first = 0; first < members; first += per_node) levels[0].push_back(first);
    if (levels[0].size() > 2 && levels[0].size() % 2 == 0) {
        levels.emplace_back();
        for (std::uint32_t node = 0; node < levels[0].size(); node += 2) levels[1].push_back(node);
    }
    return levels;
}

inline CollectiveShape shape_of(CollectiveOp op, std::uint32_t members, std::int64_t bytes,
                                std::uint32_t per_node = 0) {
    CollectiveShape shape{.op = op, .members = members, .bytes = bytes};
    if (per_node > 0) shape.levels = levels_of(members, per_node);
    if (op == CollectiveOp::all_to_all_v) shape.pair_bytes = std::make_shared<UnevenPairs>();
    return shape;
}

}  // namespace orrery::testing
