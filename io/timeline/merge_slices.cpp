// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/merge_slices.hpp"

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

// Where slice `number` begins when chunks are disregarded: keys taken evenly from every part, each standing for as many
// rows as lie between it and the next one, cut into `count` equal weights.
RowKey split_key(std::span<PartReader const> parts, TableId id, std::uint32_t number, std::uint32_t count,
                 std::uint64_t total) {
    struct Sample {
        RowKey key;
        std::uint64_t weight;
    };
    std::vector<Sample> samples;
    auto const per_part = std::max<std::uint64_t>(8, 16 * count / parts.size());
    for (auto const& part : parts) {
        auto const rows = part.rows(id), n = std::min(rows, per_part);
        for (std::uint64_t s = 0; s < n; ++s) samples.push_back({part.key(id, rows * s / n), rows / n});
    }
    std::ranges::sort(samples, {}, &Sample::key);
    auto wanted = total / count * number;
    for (auto const& sample : samples) {
        if (wanted < sample.weight) return sample.key;
        wanted -= sample.weight;
    }
    return samples.back().key;
}

std::uint64_t whole_chunks_up(std::uint64_t rows) {
    return (rows + timeline_chunk_rows - 1) / timeline_chunk_rows * timeline_chunk_rows;
}

}  // namespace

MergeSlice slice_of(std::span<PartReader const> parts, TableId id, MergeRange const& range) {
    std::uint64_t total = 0;
    for (auto const& part : parts) total += part.rows(id);
    // A small table is not worth a split.
    if (range.count == 1 || total < 4 * timeline_chunk_rows * range.count)
        return {.rows = range.index == 0 ? total : 0};

    struct Start {
        RowKey key = before_all;
        std::uint64_t below = 0;
    };
    auto const start_of = [&](std::uint32_t number) {
        if (number == 0) return Start{};
        if (number == range.count) return Start{.below = total};
        Start start{.key = split_key(parts, id, number, range.count, total)};
        for (auto const& part : parts) start.below += part.rows_below(id, start.key);
        return start;
    };
    auto const start = start_of(range.index);
    auto const first = whole_chunks_up(start.below);
    auto const end = std::min(total, whole_chunks_up(start_of(range.index + 1).below));
    return {.from = start.key, .skipped = first - start.below, .rows = first < end ? end - first : 0};
}

}  // namespace orrery
