// SPDX-License-Identifier: Apache-2.0
// One scalar field: text to value with all checks, and value to text.
#pragma once

#include "io/scenario/schema.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace orrery::loader {

// Parses the text by the field's type and unit, checks range and choices, and stores it; or says why not.
// PATH fields are stored as given: resolving them needs to know where they were written.
std::optional<quantity::Refusal> assign(Message& message, Field const& field, std::string_view text);

// As a user would write it: 28GB/s, 0.85, flow.
std::string user_text(Message const& message, Field const& field);
// In the stored unit: 224000000000, 0.85, flow.
std::string stored_text(Message const& message, Field const& field);

// A bound in the field's unit: at_most = 1e9 of a time reads 1ms.
std::string bound_text(Field const& field, double bound);
// "1 to 4096", "at least 1ns", or empty.
std::string range_text(Field const& field);

}  // namespace orrery::loader
