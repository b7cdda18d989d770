// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/placement.hpp"

#include "core/check.hpp"
#include "workloads/moe/eplb.hpp"
#include "workloads/moe/routing_source.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace orrery {
namespace {

// Puts routed experts, in order, into the slots that the shared copies leave free.
std::vector<std::int32_t> merge_shared(PlacementSetup const& setup, std::vector<std::int32_t> const& routed) {
    std::vector<std::int32_t> slots;
    slots.reserve(setup.slots());
    auto next = routed.begin();
    for (std::uint32_t const shared : shared_slots_per_rank(setup)) {
        slots.insert(slots.end(), shared, shared_slot);
        auto const take = static_cast<std::ptrdiff_t>(setup.slots_per_rank() - shared);
        slots.insert(slots.end(), next, next + take);
        next += take;
    }
    return slots;
}

// Expert order; redundant slots repeat it from expert 0 (the trivial placement of SGLang's expert location metadata).
std::vector<std::int32_t> contiguous(PlacementSetup const& setup) {
    std::vector<std::int32_t> routed(setup.routed_slots());
    for (std::uint32_t slot = 0; slot < routed.size(); ++slot)
        routed[slot] = static_cast<std::int32_t>(slot % setup.experts);
    return merge_shared(setup, routed);
}

EplbShape eplb_shape(PlacementSetup const& setup) {
    EplbShape shape;
    for (std::uint32_t const shared : shared_slots_per_rank(setup))
        shape.slots_of_rank.push_back(setup.slots_per_rank() - shared);
    shape.groups = setup.n_group;
    if (setup.ranks_per_node > 0 && setup.ep % setup.ranks_per_node == 0) shape.nodes = setup.ep / setup.ranks_per_node;
    return shape;
}

// The value of `candidate` that divides and is nearest to `wanted`; ties go down.
std::uint32_t nearest_divisor(std::uint32_t slots, std::uint32_t wanted) {
    std::uint32_t best = 1;
    for (std::uint32_t ep = 1; ep <= slots; ++ep) {
        auto const off = [&](std::uint32_t value) { return value > wanted ? value - wanted : wanted - value; };
        if (slots % ep == 0 && off(ep) < off(best)) best = ep;
    }
    return best;
}

}  // namespace

LayerPlacement::LayerPlacement(std::vector<std::int32_t> slots, std::uint32_t per_rank, std::uint32_t experts)
    : slots_per_rank(per_rank), slot_expert(std::move(slots)), first_replica(experts + 1, 0) {
    for (std::int32_t const expert : slot_expert)
        if (expert >= 0) ++first_replica[static_cast<std::size_t>(expert) + 1];
    std::partial_sum(first_replica.begin(), first_replica.end(), first_replica.begin());
    replicas.resize(first_replica.back());
    std::vector<std::uint32_t> next(first_replica.begin(), first_replica.end() - 1);
    for (std::uint32_t slot = 0; slot < slot_expert.size(); ++slot) {
        Replica const here{slot, slot / per_rank};
        if (slot_expert[slot] >= 0)
            replicas[next[static_cast<std::size_t>(slot_expert[slot])]++] = here;
        else
            shared.push_back(here);
    }
}

void validate_slots(PlacementSetup const& setup) {
    ORRERY_ENSURE(setup.ep >= 1 && setup.experts >= 1, "{} experts over {} ranks", setup.experts, setup.ep);
    std::uint32_t const slots = setup.slots();
    std::uint32_t const over = slots % setup.ep;
    std::uint32_t const up = setup.redundant + (over == 0 ? 0 : setup.ep - over);
    std::string const down = over > 0 && over <= setup.redundant
                                 ? fmt::format("workload.experts.redundant={} or ", setup.redundant - over)
                                 : "";
    ORRERY_VALIDATE(
        over == 0,
        "{} routed + {} redundant + {} shared expert slots do not divide over {} ranks ({:.3g} per rank) use "
        "{}workload.experts.redundant={} or workload.ep={}",
        setup.experts, setup.redundant, setup.shared_copies, setup.ep, static_cast<double>(slots) / setup.ep, down, up,
        nearest_divisor(slots, setup.ep));
}

std::vector<std::uint32_t> shared_slots_per_rank(PlacementSetup const& setup) {
    std::vector<std::uint32_t> count(setup.ep);
    for (std::uint64_t rank = 0; rank < setup.ep; ++rank)
        count[rank] = static_cast<std::uint32_t>((rank + 1) * setup.shared_copies / setup.ep -
                                                 rank * setup.shared_copies / setup.ep);
    return count;
}

Placement::Placement(PlacementSetup const& setup, std::vector<std::vector<std::int32_t>> slots_of_layer,
                     std::string description)
    : setup_(setup), description_(std::move(description)) {
    std::map<std::vector<std::int32_t>, std::uint32_t> known;
    for (std::uint32_t layer = 0; layer < setup.moe_layers; ++layer) {
        auto const& slots = slots_of_layer.size() == 1 ? slots_of_layer.front() : slots_of_layer.at(layer);
        ORRERY_ENSURE(slots.size() == setup.slots(), "layer {} has {} slots, not {}", layer, slots.size(),
                      setup.slots());
        auto const [at, added] = known.emplace(slots, static_cast<std::uint32_t>(distinct_.size()));
        if (added) distinct_.emplace_back(slots, setup.slots_per_rank(), setup.experts);
        index_.push_back(at->second);
    }
    find_duplicates();
}

void Placement::find_duplicates() {
    std::uint64_t duplicates = 0;
    std::string first;
    for (std::uint32_t moe_layer = 0; moe_layer < index_.size(); ++moe_layer) {
        LayerPlacement const& where = layer(moe_layer);
        for (std::uint32_t expert = 0; expert < setup_.experts; ++expert)
            for (std::uint32_t i = where.first_replica[expert] + 1; i < where.first_replica[expert + 1]; ++i) {
                if (where.replicas[i].rank != where.replicas[i - 1].rank) continue;
                if (duplicates++ == 0)
                    first = fmt::format("MoE layer {} expert {} on rank {}", moe_layer, expert, where.replicas[i].rank);
            }
    }
    if (duplicates > 0)
        warnings_.push_back(
            fmt::format("{} expert slots hold a second replica on the same rank, which balances nothing "
                        "(first: {})",
                        duplicates, first));
}

Placement make_placement(PlacementSetup const& setup, RoutingSource const& routing) {
    validate_slots(setup);
    std::string const counts = fmt::format("{} routed + {} redundant + {} shared slots, {} per rank", setup.experts,
                                           setup.redundant, setup.shared_copies, setup.slots_per_rank());
    if (setup.kind == "file")
        return Placement(setup, read_placement(setup), fmt::format("file {}: {}", setup.file.string(), counts));
    if (setup.kind == "eplb") {
        EplbShape const shape = eplb_shape(setup);
        std::vector<std::vector<std::int32_t>> layers;
        for (std::uint32_t layer = 0; layer < setup.moe_layers; ++layer)
            layers.push_back(merge_shared(setup, eplb_place(routing.expected_load(layer), shape)));
        return Placement(setup, std::move(layers),
                         fmt::format("eplb, {}: {}", eplb_mode_text(setup.experts, shape), counts));
    }
    ORRERY_VALIDATE(setup.kind == "contiguous",
                    "workload.experts.placement is \"{}\" (no such placement) use contiguous, eplb or file",
                    setup.kind);
    return Placement(setup, {contiguous(setup)}, fmt::format("contiguous: {}", counts));
}

std::vector<std::uint64_t> rank_loads(LayerPlacement const& where, std::vector<std::uint64_t> const& expert_load) {
    std::vector<std::uint64_t> loads(where.slot_expert.size() / where.slots_per_rank, 0);
    for (std::size_t expert = 0; expert < expert_load.size(); ++expert) {
        std::uint32_t const first = where.first_replica[expert];
        std::uint32_t const last = where.first_replica[expert + 1];
        for (std::uint32_t i = first; i < last; ++i)
            loads[where.replicas[i].rank] += (expert_load[expert] << 20) / (last - first);
    }
    return loads;
}

}  // namespace orrery
