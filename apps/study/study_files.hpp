// SPDX-License-Identifier: Apache-2.0
// What a study leaves: study.h5 with every member and every row of the table, study.csv with the table, and a page.
#pragma once

#include "apps/report/run_file.hpp"
#include "apps/study/study_summary.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct StudyResult {
    StudyPlan const& plan;
    std::vector<std::optional<MemberResult>> const& results;
    StudySummary const& summary;
};

void write_study_csv(std::filesystem::path const& path, StudyResult const& study);
void write_study_h5(std::filesystem::path const& path, StudyResult const& study);
// What the page draws.
Json study_page(StudyResult const& study);
// For the screen.
std::string study_text(StudyResult const& study);

}  // namespace orrery
