// SPDX-License-Identifier: Apache-2.0
// What differs between two runs, in their inputs and in what came of it, and why the time did or did not change.
#pragma once

#include "apps/report/run_file.hpp"

#include <string>
#include <vector>

namespace orrery {

struct RunDifference {
    struct Input {
        std::string path, before, after;  // empty: not set there
        std::string without_effect;       // why, when a run said so
    };
    struct Part {  // of the mean rank's step, as in StepParts
        std::string name, sort;
        double before_s = 0, after_s = 0;
        std::string why;  // what moved it
    };
    struct Links {  // one link, or the hottest of one class where the fabrics have no link in common
        std::string name;
        double before = 0, after = 0;  // utilisation over the run
    };

    std::vector<Input> inputs;
    bool identical = false;  // equal digests
    double before_s = 0, after_s = 0;
    std::vector<Part> parts;           // what moved most first
    std::vector<Links> links;          // the same
    std::vector<std::string> verdict;  // sentences: what changed, and why
};

RunDifference compare_runs(RunFile const& before, RunFile const& after);

// For the screen.
std::string text_of(RunDifference const& difference);

}  // namespace orrery
