// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/planner.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {

PlannedCollective NamedPlanner::plan(CollectiveWish const& wish, std::span<RankId const> ranks) const {
    CollectiveShape const shape{.op = wish.op,
                                .members = static_cast<std::uint32_t>(ranks.size()),
                                .bytes = wish.bytes,
                                .root = wish.root,
                                .levels = {},
                                .pair_bytes = wish.pair_bytes};
    if (!wish.algorithm.empty())
        return {.plan = plan_collective(wish.algorithm, shape),
                .protocol = {},
                .algorithm = collective_algorithm(wish.algorithm).name,
                .reason = "named",
                .order = {}};
    for (auto const* algorithm : collective_algorithms()) {
        auto const& ops = algorithm->ops;
        if (std::find(ops.begin(), ops.end(), wish.op) == ops.end() || !algorithm->refuses(shape).empty()) continue;
        return {.plan = algorithm->plan(shape),
                .protocol = {},
                .algorithm = algorithm->name,
                .reason = "the first that can",
                .order = {}};
    }
    throw InputError(fmt::format("no algorithm carries out {} of {} members", name_of(wish.op), ranks.size()));
}

}  // namespace orrery
