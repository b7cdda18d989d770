// SPDX-License-Identifier: Apache-2.0
// A scenario while it is being loaded: what was read so far, from where, and what is wrong with it.
#pragma once

#include "io/scenario/problems.hpp"
#include "proto/scenario.pb.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace orrery::loader {

struct Draft {
    scenario::Scenario scenario;
    std::map<std::string, Place> origin;  // of scalars the user set
    std::map<std::string, Place> groups;  // of groups and list items the user wrote: where a missing key belongs
    std::set<std::string> failed;         // paths with a problem of their own: not to be judged a second time
    Problems problems;
    std::string file;  // as the user named it
    std::filesystem::path directory;

    // Where to point when something is missing in the group at `path`: the closest written group, else the file.
    Place place_of_group(std::string path) const;
};

}  // namespace orrery::loader
