// SPDX-License-Identifier: Apache-2.0
// Files that appear whole: a reader sees the old content or the new one, never a part. All failures are InputErrors
// with path and reason.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace orrery {

// Writes PATH.tmp, syncs it to the disk and renames it.
void replace_file(std::filesystem::path const& path, std::span<std::byte const> content);

// With its parents; one that exists is fine.
void make_directory(std::filesystem::path const& path);

// Waits until everything written to the file so far is on the disk.
void sync_file(std::filesystem::path const& path);

// Syncs a finished file and gives it its final name.
void publish_file(std::filesystem::path const& temporary, std::filesystem::path const& path);

}  // namespace orrery
