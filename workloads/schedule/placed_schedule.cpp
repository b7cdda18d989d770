// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/placed_schedule.hpp"

#include <algorithm>

namespace orrery {

PlacedSchedule::PlacedSchedule(std::vector<Part> parts) : parts_(std::move(parts)) {
    for (std::uint32_t p = 0; p < parts_.size(); ++p)
        for (std::uint32_t r = 0; r < parts_[p].place.size(); ++r) origin_.push_back({p, r});
    auto const fabric_rank = [this](Origin const& origin) { return parts_[origin.part].place[origin.rank]; };
    std::sort(origin_.begin(), origin_.end(), [&](Origin const& a, Origin const& b) {
        return fabric_rank(a) != fabric_rank(b) ? fabric_rank(a) < fabric_rank(b) : a.part < b.part;
    });
    number_.resize(parts_.size());
    for (std::uint32_t p = 0; p < parts_.size(); ++p) number_[p].resize(parts_[p].place.size());
    for (std::uint32_t n = 0; n < origin_.size(); ++n) {
        place_.push_back(fabric_rank(origin_[n]));
        number_[origin_[n].part][origin_[n].rank] = n;
        ORRERY_VALIDATE(
            n == 0 || place_[n] != place_[n - 1],
            "rank {} of the fabric has tasks of {} and of {} (a rank runs one schedule) place one elsewhere",
            place_[n].value(), parts_[origin_[n - 1].part].name, parts_[origin_[n].part].name);
    }
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        auto const& schedule = *parts_[p].schedule;
        auto const first_group = group_count();
        offsets_.push_back({collective_count(), static_cast<std::uint32_t>(labels_.size())});
        for (std::uint32_t g = 0; g < schedule.group_count(); ++g) {
            auto& group = groups_.emplace_back();
            for (auto const rank : schedule.group(g)) group.push_back(number_[p][rank]);
        }
        for (std::uint32_t c = 0; c < schedule.collective_count(); ++c) {
            collectives_.push_back(schedule.collective(c));
            collectives_.back().group += first_group;
        }
        labels_.insert(labels_.end(), schedule.labels().begin(), schedule.labels().end());
    }
}

RankProgram PlacedSchedule::program(std::uint32_t rank) const {
    auto const [part, own] = origin_[rank];
    auto program = parts_[part].schedule->program(own);
    program.change_tasks([&, part = part](ScheduleTask& task) {
        task.label += offsets_[part].labels;
        if (task.kind == TaskKind::collective) task.peer += offsets_[part].collectives;
        if (task.kind == TaskKind::send || task.kind == TaskKind::receive) task.peer = number_[part][task.peer];
    });
    return program;
}

}  // namespace orrery
