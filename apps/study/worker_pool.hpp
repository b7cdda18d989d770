// SPDX-License-Identifier: Apache-2.0
// Child processes that run members one after the other. A member that kills its process is that member's result; a
// study that is killed takes its workers with it.
#pragma once

#include "apps/study/member.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace orrery {

struct PoolRules {
    std::uint32_t workers = 1;
    std::function<bool()> stop = [] { return false; };  // asked between members: then no more are begun
};

// Calls done(result, line) for each of `members`, in the order in which they end.
void run_members(StudyPlan const& plan, std::vector<std::uint64_t> const& members, PoolRules const& rules,
                 std::function<void(MemberResult const& result, std::string const& line)> const& done);

}  // namespace orrery
