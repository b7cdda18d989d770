// SPDX-License-Identifier: Apache-2.0
// Replaces a file by new content so that a reader sees the old or the new one, never a part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace orrery {

// Writes PATH.tmp, syncs it to the disk and renames it. InputError with path and reason when that fails.
void replace_file(std::filesystem::path const& path, std::span<std::byte const> content);

// Waits until everything written to the file so far is on the disk.
void sync_file(std::filesystem::path const& path);

// Syncs a finished file and gives it its final name.
void publish_file(std::filesystem::path const& temporary, std::filesystem::path const& path);

}  // namespace orrery
