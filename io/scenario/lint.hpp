// SPDX-License-Identifier: Apache-2.0
// Rules between fields that need the scenario alone (no model file, no fabric).
#pragma once

#include "io/scenario/draft.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::loader {

// Adds to the draft's problems. Fields with a problem of their own are left out.
void lint(Draft& draft);
// Settings that cancel each other, in the form of LoadedScenario::ignored.
std::vector<std::string> find_cancelled(Draft const& draft);

// The divisors of n next to d, none above `most`: "4 or 8" for n = 64, d = 7.
std::string nearest_divisors(std::uint64_t n, std::uint64_t d, std::uint64_t most);

}  // namespace orrery::loader
