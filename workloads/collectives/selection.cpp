// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/selection.hpp"

#include "core/check.hpp"
#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/levels.hpp"

#include <bit>

namespace orrery {
namespace {

constexpr std::uint32_t few_servers = 8;

std::string between_servers(std::uint32_t servers) {
    if (std::has_single_bit(servers)) return "halving_doubling";
    return servers <= few_servers ? "ring" : "nhr";
}

// The first of these that can, for operations that the rule says nothing about.
AlgorithmChoice first_able(CollectiveShape const& shape, std::initializer_list<char const*> names) {
    auto const able = algorithms_for(shape);
    for (auto const* name : names)
        for (auto const* algorithm : able)
            if (algorithm->name == name) return {name, "HCCL: the usual one for " + std::string(name_of(shape.op))};
    ORRERY_ENSURE(!able.empty(), "no algorithm for {} of {} members", name_of(shape.op), shape.members);
    return {able.front()->name, "the only kind that can"};
}

}  // namespace

AlgorithmChoice hccl_choice(CollectiveShape const& shape) {
    using Op = CollectiveOp;
    auto const servers = shape.levels.empty() ? 1 : static_cast<std::uint32_t>(shape.levels.front().size());
    bool const split = shape.op == Op::all_reduce || shape.op == Op::reduce_scatter || shape.op == Op::all_gather;
    if (shape.op == Op::all_to_all || shape.op == Op::all_to_all_v) {
        if (servers == 1) return {"direct", "HCCL: all to all at once inside a server"};
        return {"pairwise", "HCCL: pairwise between servers, to have no many-to-one"};
    }
    if (!split) return first_able(shape, {"binomial_tree", "direct"});
    if (servers == 1) return {"direct", "HCCL: full mesh inside a server"};
    if (!lacks_equal_nodes(shape).empty()) {
        if (shape.op == Op::all_reduce) return {"unequal_hierarchical", "HCCL: AHC, the servers differ in size"};
        return {"nhr", "HCCL: NHR over all ranks, the servers differ in size"};
    }
    auto const above = between_servers(servers);
    auto const why = fmt::format("HCCL: mesh in {} servers, {} between them", servers, above);
    if (equal_nodes(shape).per_node == 1) return {above, why};
    return {"hierarchical:direct," + above, why};
}

AlgorithmChoice least_closed_form(CollectiveShape const& shape, Time latency, Rate port) {
    AlgorithmChoice best;
    auto least = Time::infinity();
    for (auto const* algorithm : algorithms_for(shape)) {
        if (algorithm->name == "in_switch") continue;
        auto const form = plan_collective(algorithm->name, shape)->closed_form();
        auto const time = form.time(latency, port);
        if (time >= least) continue;
        least = time;
        best = {algorithm->name, fmt::format("least by its closed form, {}: {}", form.text, to_string(time))};
    }
    ORRERY_ENSURE(!best.algorithm.empty(), "no algorithm for {} of {} members", name_of(shape.op), shape.members);
    return best;
}

}  // namespace orrery
