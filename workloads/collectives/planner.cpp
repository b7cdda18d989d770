// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/planner.hpp"

#include "core/check.hpp"
#include "netmodels/topology/fabric.hpp"
#include "workloads/collectives/nccl_tuner.hpp"
#include "workloads/collectives/selection.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

constexpr std::string_view nccl_prefix = "nccl:";
constexpr std::int64_t in_switch_chunks = 8, least_chunk = 65'536;

// The bytes of the group's members, by the numbers of the plan's.
class ArrangedPairs final : public PairBytes {
  public:
    ArrangedPairs(std::shared_ptr<PairBytes const> pairs, std::vector<std::uint32_t> order)
        : pairs_(std::move(pairs)), order_(std::move(order)) {}
    std::int64_t bytes(std::uint32_t source, std::uint32_t target) const override {
        return pairs_->bytes(order_[source], order_[target]);
    }

  private:
    std::shared_ptr<PairBytes const> pairs_;
    std::vector<std::uint32_t> order_;
};

// The slowest way from the first member to another one.
struct SlowestWay {
    Time latency;
    Rate port = Rate::unlimited();
};
SlowestWay slowest_way(Fabric const& fabric, std::span<RankId const> ranks) {
    SlowestWay slowest;
    for (auto const rank : ranks.subspan(1)) {
        auto const route = fabric.route(ranks.front(), rank);
        slowest.latency = std::max(slowest.latency, route.latency);
        slowest.port = std::min(slowest.port, route.cap);
    }
    return slowest;
}

struct Choice {
    std::string algorithm, protocol, reason;
};

Choice choose(Fabric const& fabric, CollectiveWish const& wish, CollectiveShape const& shape,
              std::span<RankId const> ranks) {
    if (wish.algorithm == "hccl") {
        auto const [algorithm, reason] = hccl_choice(shape);
        return {algorithm, wish.protocol, reason};
    }
    if (wish.algorithm.starts_with(nccl_prefix)) {
        auto const& hardware = nccl_hardware(std::string_view{wish.algorithm}.substr(nccl_prefix.size()));
        if (shape.members == 1) return {"ring", wish.protocol, "one member"};
        auto const nodes = shape.levels.empty() ? 1 : static_cast<std::uint32_t>(shape.levels.front().size());
        auto const taken = nccl_choice(hardware, {shape.op, shape.members, nodes, shape.bytes});
        // NVLS works on many chunks: while one comes down, the next one goes up.
        bool const overlaps = taken.algorithm == "in_switch" && shape.bytes >= in_switch_chunks * least_chunk;
        return {overlaps ? fmt::format("in_switch*{}", in_switch_chunks) : taken.algorithm,
                wish.protocol.empty() ? name_of(taken.protocol) : wish.protocol,
                fmt::format("NCCL's tuner for {}", hardware.name)};
    }
    if (!wish.algorithm.empty() && wish.algorithm != "auto") return {wish.algorithm, wish.protocol, "named"};
    auto const way = slowest_way(fabric, ranks);
    auto const [algorithm, reason] = least_closed_form(shape, way.latency, way.port);
    return {algorithm, wish.protocol, reason};
}

}  // namespace

std::vector<std::vector<std::uint32_t>> FabricPlanner::levels(std::span<RankId const> sorted) const {
    bool const one_switch = std::all_of(sorted.begin() + 1, sorted.end(), [&](RankId rank) {
        return fabric_->route(sorted.front(), rank).hop_count == 2;
    });
    if (one_switch) return {};
    auto const per_block = std::max(1U, fabric_->ranks_per_block());
    std::vector<std::uint32_t> first;
    for (std::uint32_t m = 0; m < sorted.size(); ++m)
        if (m == 0 || sorted[m].value() / per_block != sorted[m - 1].value() / per_block) first.push_back(m);
    return {std::move(first)};
}

PlannedCollective FabricPlanner::plan(CollectiveWish const& wish, std::span<RankId const> ranks) const {
    std::vector<std::uint32_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; });
    std::vector<RankId> sorted;
    for (auto const member : order) sorted.push_back(ranks[member]);

    CollectiveShape shape{.op = wish.op,
                          .members = static_cast<std::uint32_t>(ranks.size()),
                          .bytes = wish.bytes,
                          .levels = levels(sorted),
                          .level_algorithms = {},
                          .pair_bytes = wish.pair_bytes};
    shape.root = static_cast<std::uint32_t>(std::find(order.begin(), order.end(), wish.root) - order.begin());
    if (wish.pair_bytes) shape.pair_bytes = std::make_shared<ArrangedPairs>(wish.pair_bytes, order);
    auto const choice = choose(*fabric_, wish, shape, sorted);
    return {.plan = plan_collective(choice.algorithm, shape),
            .protocol = choice.protocol.empty() ? CollectiveProtocol{} : nccl_protocol(choice.protocol),
            .algorithm = choice.algorithm,
            .reason = choice.reason,
            .order = std::move(order)};
}

}  // namespace orrery
