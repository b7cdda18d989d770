// SPDX-License-Identifier: Apache-2.0
#include "apps/run/collective_part.hpp"

#include "core/check.hpp"
#include "workloads/collectives/planner.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

constexpr char const* where = "workload.collective";

std::vector<RankId> members_of(LoadedScenario const& loaded, Fabric const& fabric) {
    auto const& spec = loaded.scenario.workload().collective();
    auto const first = spec.first_rank();
    ORRERY_VALIDATE(first < fabric.rank_count(), "{} = {} (the fabric has {} ranks) take one below that",
                    locate(loaded, std::string(where) + ".first_rank"), first, fabric.rank_count());
    auto const room = (fabric.rank_count() - 1 - first) / spec.stride() + 1;
    auto const count = spec.ranks() == 0 ? room : spec.ranks();
    ORRERY_VALIDATE(count <= room, "{} = {} (the fabric has {} ranks, {} of them in steps of {} from {} on) take fewer",
                    locate(loaded, std::string(where) + ".ranks"), count, fabric.rank_count(), room, spec.stride(),
                    first);
    std::vector<RankId> ranks;
    for (std::uint32_t m = 0; m < count; ++m) ranks.emplace_back(first + m * spec.stride());
    return ranks;
}

}  // namespace

PlacedSchedule::Part collective_part(LoadedScenario const& loaded, Fabric const& fabric) {
    auto const& spec = loaded.scenario.workload().collective();
    auto const ranks = members_of(loaded, fabric);
    auto const members = static_cast<std::uint32_t>(ranks.size());
    CollectiveSpec collective{.op = collective_op_of(spec.op()), .bytes = spec.bytes(), .root = spec.root()};
    ORRERY_VALIDATE(collective.op != CollectiveOp::all_to_all_v,
                    "{} = {} (bytes per pair come from a schedule) take all-to-all, or workload.kind=schedule",
                    locate(loaded, std::string(where) + ".op"), spec.op());
    ORRERY_VALIDATE(collective.root < members, "{} = {} (the operation has {} members) take one below that",
                    locate(loaded, std::string(where) + ".root"), collective.root, members);
    collective.algorithm = spec.algorithm();
    if (spec.protocol() != "auto") collective.protocol = spec.protocol();
    try {
        FabricPlanner(fabric).plan(
            {collective.op, collective.bytes, collective.root, collective.algorithm, collective.protocol, nullptr},
            ranks);
    } catch (InputError const& error) {
        throw InputError(fmt::format("{}: {}", locate(loaded, std::string(where) + ".algorithm"), error.what()));
    }

    auto schedule = std::make_unique<StoredSchedule>(members);
    schedule->groups.emplace_back(members);
    std::iota(schedule->groups.front().begin(), schedule->groups.front().end(), 0U);
    schedule->collectives.assign(spec.repeat(), collective);
    ProgramBuilder builder;
    for (std::uint32_t c = 0; c < spec.repeat(); ++c) {
        auto const task = builder.add({.kind = TaskKind::collective, .peer = c});
        if (c > 0) builder.require(task, task - 1);
    }
    std::fill(schedule->programs.begin(), schedule->programs.end(), builder.build());
    return {.schedule = std::move(schedule), .name = name_of(collective.op), .place = ranks};
}

}  // namespace orrery
