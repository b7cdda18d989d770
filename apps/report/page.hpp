// SPDX-License-Identifier: Apache-2.0
// One self-contained HTML page: data, and the charts that were bundled into the program when it was built.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace orrery {

// InputError when this program was built without charts; says how to get them. Before any work is done.
void require_page_bundle();

// Replaces the file at once.
void write_page(std::filesystem::path const& path, std::string const& title, nlohmann::ordered_json const& data);

}  // namespace orrery
