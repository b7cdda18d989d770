// SPDX-License-Identifier: Apache-2.0
// The k-way merge of sorted parts, in bounded memory, whole or one range of it. Internal to the timeline.
#pragma once

#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace orrery {

// Merges every table of the parts, or the range's slice of each, into new tables of `out`.
void merge_tables(std::span<PartReader const> parts, hdf5::Group& out, MergeRange const& range = {});

// Puts the files that merge_tables() made of all ranges one after the other.
void join_tables(std::vector<std::filesystem::path> const& ranges, hdf5::Group& out);

}  // namespace orrery
