// SPDX-License-Identifier: Apache-2.0
// Files a user names: do they exist, and if not, which one was meant.
#pragma once

#include "io/scenario/quantity.hpp"

#include <filesystem>
#include <optional>

namespace orrery::loader {

// Nothing if the path is a readable regular file, else why not and the nearest name in its directory.
std::optional<quantity::Refusal> file_fault(std::filesystem::path const& path);

}  // namespace orrery::loader
