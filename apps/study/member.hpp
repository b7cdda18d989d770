// SPDX-License-Identifier: Apache-2.0
// One member of a study: a whole run in this process, and what the study keeps of it.
#pragma once

#include "apps/study/study_plan.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery {

struct MemberResult {
    std::uint64_t member = 0, key = 0;
    std::string error;  // empty: it ran to its end
    std::string digest;
    std::int64_t step_ps = 0, ideal_ps = 0;
    std::int64_t flows = 0, delivered_bytes = 0;
    std::string hot_link, hot_class;
    double hot_use = 0;                               // of the step
    std::map<std::string, std::int64_t> used;         // by class of links: bundles that carried anything
    std::map<std::string, double> busiest;            // by class: the highest use of one of its bundles
    std::int64_t ranks = 0, switches = 0, links = 0;  // of the fabric
    std::vector<std::int64_t> rank_ends_ps;           // by rank of the fabric; of a study with failures
    double cpu_s = 0;

    bool failed() const { return !error.empty(); }
};

// Never throws for what is wrong with a member: that is its result.
MemberResult run_member(StudyPlan const& plan, std::uint64_t member);

// One line of text, without its end.
std::string to_line(MemberResult const& result);
// Throws std::exception for a line that was not written whole.
MemberResult from_line(std::string const& line);

}  // namespace orrery
