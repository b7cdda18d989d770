// SPDX-License-Identifier: Apache-2.0
// The option applies_when: "path=value|value & path=value", and what it says about a field of a given scenario.
#pragma once

#include "io/scenario/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::loader {

struct Clause {
    std::string path;
    std::vector<std::string> values;
};
std::vector<Clause> parse_condition(std::string_view text);

// The stored text at a path without list indices; empty if it or a group above it is absent.
std::string value_at(Message const& root, std::string_view path);

// Why the field at `path` has no effect: "workload.routing.source is uniform, not zipf"; empty if it has one.
// Conditions of the groups above count too.
std::string why_idle(Message const& root, std::string_view path);

}  // namespace orrery::loader
