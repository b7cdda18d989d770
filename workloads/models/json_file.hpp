// SPDX-License-Identifier: Apache-2.0
// Opening input files, and JSON files, with errors a user can act on.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <fstream>

namespace orrery {

// Throws InputError with the system's reason. `what` names the file's role: "model", "expert loads".
std::ifstream open_input(std::filesystem::path const& path, char const* what);

// Parses the whole file. Throws InputError with line and column.
nlohmann::json parse_json_file(std::filesystem::path const& path, char const* what);

}  // namespace orrery
