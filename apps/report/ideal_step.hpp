// SPDX-License-Identifier: Apache-2.0
// What a step is made of for the mean rank, and what it would take with no waiting and every exchange at its bound.
#pragma once

#include "apps/report/run_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct StepParts {
    enum class Sort : std::uint8_t { compute, transfer, wait, idle };
    struct Part {
        std::string name;  // "attention", "waiting in combine"
        double seconds = 0;
        Sort sort{};
        std::string bound_by, bound_link;
    };
    std::vector<Part> parts;  // of the mean rank; add up to the step; longest first, idle last
    double ideal_s = 0;
    std::string ideal_how;
};
char const* name_of(StepParts::Sort);

// `operations` as in summary.json, of so many ranks.
StepParts step_parts(Json const& operations, std::int64_t ranks, double step_s, bool micro_batches);
StepParts step_parts(RunFile const& run);

}  // namespace orrery
