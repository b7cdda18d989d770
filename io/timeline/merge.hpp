// SPDX-License-Identifier: Apache-2.0
// Makes the one finished file of a run out of the parts that its processes wrote.
#pragma once

#include "io/timeline/manifest.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace orrery {

struct MergeLimits {
    // Parts merged at once; each holds one chunk of one table in memory (at most 1.3 MB). More parts take two passes.
    std::size_t fan_in = 64;
    // Fabrics with more bundles list only those that carried traffic.
    std::size_t all_bundles = 100'000;
};

// Writes RUN_H5.tmp, renames it to RUN_H5 and removes the parts (and their folder once it is empty). All rows are in
// the canonical order of their table, so that every dataset, attribute and chunk outside /run is the same for every
// number of parts. Rows out of order, or in two parts, are an InternalError; the parts then stay.
void merge_parts(std::vector<std::filesystem::path> const& parts, std::filesystem::path const& run_h5,
                 Manifest const& manifest, FabricTables const& fabric, MergeLimits const& limits = {});

}  // namespace orrery
