// SPDX-License-Identifier: Apache-2.0
// The table of a study: one row per combination of variants, over its seeds.
#pragma once

#include "apps/study/member.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct StudyCell {
    std::vector<std::size_t> variants;  // by axis
    std::uint64_t members = 0, failed = 0, missing = 0;
    std::string first_error;
    // Nothing of what follows when a member failed or is missing: a mean over what was left would mislead.
    struct Figures {
        std::int64_t p5_ps = 0, p50_ps = 0, p95_ps = 0;  // nearest rank over the seeds
        std::uint64_t worst = 0;                         // the member with the longest step, the first of equals
        std::string worst_digest;
        double of_bound = 0;                      // the ideal over the step, median seed: 1 is as good as it gets
        std::string hottest_class, hottest_link;  // of the median seed
        double hottest_use = 0;
        double goodput_bytes_per_s = 0;              // payload delivered over the step, median seed
        std::optional<std::int64_t> affected_ranks;  // of the median seed: end later than without the failure
        std::vector<std::pair<std::string, double>> mean_links_used;  // by class, over the seeds
        std::optional<double> cost;                                   // of the fabric
    };
    std::optional<Figures> figures;
};

struct StudySummary {
    std::vector<StudyCell> cells;
    std::uint64_t failed = 0, missing = 0;
    bool complete() const { return failed == 0 && missing == 0; }
};

// `results` by member; nothing: it has not run.
StudySummary summarise(StudyPlan const& plan, std::vector<std::optional<MemberResult>> const& results);

}  // namespace orrery
