// SPDX-License-Identifier: Apache-2.0
// Files that are something, and no workload: said in one sentence, with what to do instead.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace orrery {

// "is ... (reason) suggestion"; empty when the file is not known either. `head` is its first few KiB.
std::string foreign_kind(std::filesystem::path const& path, std::string_view head);

}  // namespace orrery
