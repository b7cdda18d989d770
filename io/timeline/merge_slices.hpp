// SPDX-License-Identifier: Apache-2.0
// Which rows of the merged order one of several processes writes. Internal to the timeline.
#pragma once

#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"

#include <cstdint>
#include <limits>
#include <span>

namespace orrery {

inline constexpr RowKey before_all{std::numeric_limits<std::int64_t>::min(), 0};

// Whole chunks of the merged order, but for its last one. In every part the rows below `from` belong to earlier slices,
// and so do the first `skipped` of the merged rest.
struct MergeSlice {
    RowKey from = before_all;
    std::uint64_t skipped = 0, rows = 0;
};

// The slices of all ranges together are the whole table. Computed from the parts alone, so that every process agrees.
MergeSlice slice_of(std::span<PartReader const> parts, TableId id, MergeRange const& range);

}  // namespace orrery
