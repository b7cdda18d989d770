// SPDX-License-Identifier: Apache-2.0
// Writes /manifest, /run and /summary of a timeline. Internal to the timeline.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"

#include <vector>

namespace orrery {

void write_manifest(hdf5::Group& file, std::vector<ManifestEntry> const& entries);
void write_run(hdf5::Group& file, std::vector<ManifestEntry> const& entries);
void write_summary(hdf5::Group& file, std::vector<ManifestEntry> const& entries);

}  // namespace orrery
