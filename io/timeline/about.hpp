// SPDX-License-Identifier: Apache-2.0
// What is known of a run before its first event, kept beside its parts so that they can be understood without it.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"

#include <filesystem>

namespace orrery {

// DIRECTORY/parts/about.h5: /manifest, /run and /fabric of the timeline to come.
std::filesystem::path about_path(std::filesystem::path const& directory);

// The digest and what links carried are not known yet: wire_bytes and payload_bytes may be empty.
void write_about(std::filesystem::path const& directory, Manifest const& manifest, FabricTables const& fabric);
void copy_about(std::filesystem::path const& directory, hdf5::Group& timeline);

}  // namespace orrery
