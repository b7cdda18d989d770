// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the distance between two names and the closest of many.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Damerau-Levenshtein distance (adjacent swaps count as one edit) where an edit costs 2 and a change of case alone 1.
// Names are cut at 64 characters.
int edit_distance(std::string_view a, std::string_view b);

// The candidate closest to the name; empty if none is near enough to be a slip of the finger.
std::string nearest_name(std::string_view name, std::vector<std::string> const& candidates);

}  // namespace orrery
