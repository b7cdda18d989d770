// SPDX-License-Identifier: Apache-2.0
// Makes the one finished file of a run out of the parts that its processes wrote.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"
#include "io/timeline/part.hpp"
#include "io/timeline/scratch_files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace orrery {

enum class PartsAfterwards : std::uint8_t { removed, kept };

struct MergeOptions {
    // Parts merged at once; their blocks together take at most 85 MB. More parts take two passes.
    std::size_t fan_in = 256;
    // Fabrics with more bundles list only those that carried traffic.
    std::size_t all_bundles = 100'000;
    // A run that is to be resumed keeps its parts.
    PartsAfterwards parts = PartsAfterwards::removed;
    // So many processes have called merge_range(); 1: none.
    std::uint32_t ranges = 1;
};

// Writes RUN_H5.tmp, renames it to RUN_H5 and, unless they are kept, removes the parts (and their folder once it is
// empty). All rows are in the canonical order of their table, so that every dataset, attribute and chunk outside /run
// is the same for every number of parts and ranges. Rows out of order, or in two parts, are an InternalError; the parts
// then stay.
void merge_parts(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5, Manifest const& manifest,
                 FabricTables const& fabric, MergeOptions const& options = {});

// Number `index` of `count` processes that share the work of a merge.
struct MergeRange {
    std::uint32_t index = 0, count = 1;
};

// How many of `processes` processes should share a merge of so many parts.
std::uint32_t useful_ranges(std::size_t parts, std::uint32_t processes);

// Removes what a merge that was killed left beside RUN_H5.
void remove_unfinished(std::filesystem::path const& run_h5);

// Merges one range of the rows into a file beside RUN_H5, which merge_parts() puts together with the others. The file
// is gone with what is returned.
[[nodiscard]] ScratchFiles merge_range(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5,
                                       MergeRange const& range);

// The rows of the parts alone, and what `rest` adds to the file; the parts stay.
void write_timeline(std::vector<PartSource> const& parts, std::filesystem::path const& path,
                    MergeOptions const& options, std::function<void(hdf5::Group& file)> const& rest);

}  // namespace orrery
