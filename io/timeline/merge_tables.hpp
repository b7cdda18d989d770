// SPDX-License-Identifier: Apache-2.0
// The k-way merge of sorted parts, in bounded memory. Internal to the timeline.
#pragma once

#include "io/timeline/part_reader.hpp"
#include "io/timeline/table_writer.hpp"

#include <span>

namespace orrery {

// Merges every table of the parts into new tables of `out`.
void merge_tables(std::span<PartReader const> parts, hdf5::Group& out);

}  // namespace orrery
