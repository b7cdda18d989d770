// SPDX-License-Identifier: Apache-2.0
// Makes the one finished file of a run out of the parts that its processes wrote.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"
#include "io/timeline/part.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace orrery {

enum class PartsAfterwards : std::uint8_t { removed, kept };

struct MergeOptions {
    // Parts merged at once; each holds one chunk of one table in memory (at most 1.3 MB). More parts take two passes.
    std::size_t fan_in = 64;
    // Fabrics with more bundles list only those that carried traffic.
    std::size_t all_bundles = 100'000;
    // A run that is to be resumed keeps its parts.
    PartsAfterwards parts = PartsAfterwards::removed;
};

// Writes RUN_H5.tmp, renames it to RUN_H5 and, unless they are kept, removes the parts (and their folder once it is
// empty). All rows are in the canonical order of their table, so that every dataset, attribute and chunk outside /run
// is the same for every number of parts. Rows out of order, or in two parts, are an InternalError; the parts then stay.
void merge_parts(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5, Manifest const& manifest,
                 FabricTables const& fabric, MergeOptions const& options = {});

// The rows of the parts alone, and what `rest` adds to the file; the parts stay.
void write_timeline(std::vector<PartSource> const& parts, std::filesystem::path const& path, std::size_t fan_in,
                    std::function<void(hdf5::Group& file)> const& rest);

}  // namespace orrery
