// SPDX-License-Identifier: Apache-2.0
// Compares two finished timelines: what must be equal for every process count, partition and window width.
#pragma once

#include <filesystem>
#include <string>

namespace orrery {

// Empty when the files hold the same groups, datasets (type, chunking, every byte) and attributes outside /run;
// otherwise one line that names the first difference.
std::string content_difference(std::filesystem::path const& a, std::filesystem::path const& b);

// The same, but only whether every table of `part` is the beginning of that table of `whole`.
std::string prefix_difference(std::filesystem::path const& part, std::filesystem::path const& whole);

}  // namespace orrery
