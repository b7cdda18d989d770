// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/collective_book.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {

CollectiveCourse const& CollectiveBook::open(std::uint32_t collective) {
    auto& [course, users] = open_[collective];
    ++users;
    if (course) return *course;
    course = std::make_unique<CollectiveCourse>();
    course->group = setup_.source->group_of(collective);
    course->carriers = carriers(course->group);
    auto const members = setup_.source->members(course->group);
    std::vector<RankId> ranks;
    for (auto const lp : members) ranks.push_back(setup_.place[lp]);
    course->planned = setup_.planner->plan(setup_.source->wish(collective), ranks);
    auto order = course->planned.order;
    if (order.empty()) {
        order.resize(members.size());
        std::iota(order.begin(), order.end(), 0U);
    }
    ORRERY_ENSURE(order.size() == members.size(), "a plan of {} members for a group of {}", order.size(),
                  members.size());
    course->member_of.resize(members.size());
    for (std::uint32_t m = 0; m < order.size(); ++m) {
        course->lps.push_back(members[order[m]]);
        course->ranks.push_back(ranks[order[m]]);
        course->member_of[order[m]] = m;
    }
    return *course;
}

void CollectiveBook::close(std::uint32_t collective) {
    auto const at = open_.find(collective);
    ORRERY_ENSURE(at != open_.end(), "collective {} is closed and was not open", collective);
    if (--at->second.users == 0) open_.erase(at);
}

bool CollectiveBook::carries(CollectiveCourse const& course, DomainId domain) const {
    return std::binary_search(course.carriers.begin(), course.carriers.end(), setup_.domain_lps[domain.index()]);
}

std::span<LpId const> CollectiveBook::carriers(std::uint32_t group) {
    auto const [at, fresh] = carriers_.try_emplace(group);
    if (!fresh) return at->second;
    for (auto const domain : setup_.source->domains_of(group)) at->second.push_back(setup_.domain_lps[domain.index()]);
    return at->second;
}

}  // namespace orrery
