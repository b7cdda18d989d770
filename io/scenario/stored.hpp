// SPDX-License-Identifier: Apache-2.0
// The scenario that a timeline was made from, out of its canonical text.
#pragma once

#include "proto/scenario.pb.h"

#include <map>
#include <string>

namespace orrery {

// What canonical_text() wrote, the other way round. Files it names are not looked for. Fields that this version does
// not know are an InputError.
scenario::Scenario scenario_of(std::string const& canonical_text);

// The same text as "path" -> "value".
std::map<std::string, std::string> stored_values(std::string const& canonical_text);

}  // namespace orrery
