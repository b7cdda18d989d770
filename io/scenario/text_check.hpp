// SPDX-License-Identifier: Apache-2.0
// Faults of a text that are better told before a YAML parser sees it: bytes that are not text, tabs as indentation.
#pragma once

#include "io/scenario/problems.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::loader {

struct TextFault {
    Mark mark;
    std::string what;
};

// The first byte that is not text, or every line that is indented with a tab (at most 20).
std::vector<TextFault> text_faults(std::string_view text);

// True if the bytes are UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

}  // namespace orrery::loader
