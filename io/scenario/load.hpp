// SPDX-License-Identifier: Apache-2.0
// The scenario loader: a YAML file and --set arguments become a complete scenario::Scenario, or one InputError that
// tells everything that is wrong with them.
#pragma once

#include "proto/scenario.pb.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace orrery {

struct LoadedScenario {
    // Every group that applies is present and every scalar with a default is set. PATH fields are absolute: against the
    // scenario's directory, or the current one if they came from --set.
    scenario::Scenario scenario;
    // Of the scalars the user set: "workload.ep" -> "file.yaml:12:9" or "--set workload.ep=64". Absent: default.
    std::map<std::string, std::string> origin;
    // Settings that cannot have an effect, one sentence each:
    // "workload.routing.zipf_s = 1.2 has no effect (workload.routing.source is uniform, not zipf)".
    std::vector<std::string> ignored;
    std::filesystem::path directory;  // of the scenario file
};

// Throws InputError; its text has one line per problem: "file.yaml:12:9: path = value (reason) fix".
LoadedScenario load_scenario(std::filesystem::path const& file, std::vector<std::string> const& sets);
// The same of a text that stands in no file: `source` names it in messages, and its paths are those of `directory`.
LoadedScenario load_scenario_text(std::string const& text, std::string const& source,
                                  std::filesystem::path const& directory, std::vector<std::string> const& sets);

// Where a value comes from, for messages of later checks: "file.yaml:12:9: workload.ep" or "workload.ep (default)".
std::string locate(LoadedScenario const& loaded, std::string const& path);

// Paths the user set below groups of this plane (option `plane`), without those that are ignored anyway.
std::vector<std::string> plane_fields_set(LoadedScenario const& loaded, std::string const& plane);

// Every field as YAML with units; origin, meaning and source as trailing comments. Loading it gives the same scenario.
std::string resolved_text(LoadedScenario const& loaded);

// One line per set field, in schema order: "path=value" in stored units. Equal scenarios give equal texts.
std::string canonical_text(scenario::Scenario const& scenario);

// docs/scenario.md, generated from the schema.
std::string reference_markdown();

}  // namespace orrery
