// SPDX-License-Identifier: Apache-2.0
// From what the user wrote to a complete scenario: defaults, required keys, files, options without effect.
#pragma once

#include "io/scenario/draft.hpp"

#include <string>
#include <vector>

namespace orrery::loader {

// Creates every group that applies and sets every scalar that has a default and was not set.
void apply_defaults(scenario::Scenario& scenario);
// Reports required keys that are missing, among them texts without a default whose applies_when holds.
void check_required(Draft& draft);
// Makes PATH fields absolute: against the scenario's directory, or the current one if written with --set. Those that
// have an effect must be readable files.
void resolve_paths(Draft& draft);
// One sentence per field the user set that cannot have an effect.
std::vector<std::string> find_ignored(Draft const& draft);

}  // namespace orrery::loader
