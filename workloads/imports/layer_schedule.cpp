// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/layer_schedule.hpp"

#include <algorithm>

namespace orrery {

LayerSchedule::LayerSchedule(LayerProgram program, LayerGroups groups, std::uint32_t ranks)
    : program_(std::move(program)), groups_(std::move(groups)), ranks_(ranks), first_group_{0}, first_collective_{0} {
    for (auto const& kind : groups_) first_group_.push_back(first_group_.back() + kind.count());
    std::uint64_t count = 0;
    for (auto const& slot : program_.slots) {
        count += groups_of(slot.group).count();
        ORRERY_VALIDATE(count < 0xffff'ffff,
                        "{} collectives and more (at most 2^32 - 2 in one schedule) use fewer passes", count);
        first_collective_.push_back(static_cast<std::uint32_t>(count));
    }
}

RankProgram LayerSchedule::program(std::uint32_t rank) const {
    ProgramBuilder builder;
    auto const tasks = program_.program.tasks();
    for (std::uint32_t t = 0; t < tasks.size(); ++t) {
        auto task = tasks[t];
        if (task.kind == TaskKind::collective)
            task.peer = first_collective_[task.peer] + groups_of(program_.slots[task.peer].group).of(rank);
        builder.add(task);
        for (auto const& on : program_.program.dependencies(t)) builder.require(t, on.task, on.after);
    }
    return builder.build();
}

std::span<std::uint32_t const> LayerSchedule::group(std::uint32_t number) const {
    auto const kind = std::upper_bound(first_group_.begin(), first_group_.end(), number) - first_group_.begin() - 1;
    auto const at = static_cast<std::size_t>(kind);
    return groups_[at].members(number - first_group_[at]);
}

CollectiveSpec LayerSchedule::collective(std::uint32_t number) const {
    auto const after = std::upper_bound(first_collective_.begin(), first_collective_.end(), number);
    auto const slot = static_cast<std::size_t>(after - first_collective_.begin() - 1);
    auto const& what = program_.slots[slot];
    return {.group = first_group_[static_cast<std::size_t>(what.group)] + number - first_collective_[slot],
            .op = what.op,
            .bytes = what.bytes,
            .root = 0,
            .algorithm = what.algorithm,
            .protocol = {},
            .pair_bytes = {}};
}

}  // namespace orrery
