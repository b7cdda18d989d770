// SPDX-License-Identifier: Apache-2.0
// --set path=value on top of what the file says.
#pragma once

#include "io/scenario/draft.hpp"

#include <string>

namespace orrery::loader {

// Scalars take the text after the = as it is; groups and lists take YAML in flow style ({links: "x*"}, [...]).
// An index equal to the length of a list appends to it.
void apply_override(std::string const& argument, Draft& draft);

}  // namespace orrery::loader
