// SPDX-License-Identifier: Apache-2.0
// The end of a run: its parts become the one file.
#pragma once

#include "io/timeline/merge.hpp"
#include "partitions/world.hpp"

#include <filesystem>
#include <vector>

namespace orrery {

// Collective; fails on all processes or on none. Every process merges a range of the rows, process 0 puts them
// together; the parts stay. `parts`: of all legs and processes, alike on every process, and closed; manifest and fabric
// count on process 0.
void close_timeline(World const& world, std::vector<PartSource> const& parts, std::filesystem::path const& run_h5,
                    Manifest const& manifest, FabricTables const& fabric);

}  // namespace orrery
