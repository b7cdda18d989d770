// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/merge.hpp"

#include "core/check.hpp"
#include "io/timeline/about.hpp"
#include "io/timeline/atomic_file.hpp"
#include "io/timeline/fabric_writer.hpp"
#include "io/timeline/manifest_writer.hpp"
#include "io/timeline/merge_tables.hpp"

#include <algorithm>
#include <system_error>

namespace orrery {
namespace {

using Sources = std::vector<PartSource>;

void remove_parts(Sources const& parts) {
    std::error_code ignored;
    for (auto const& part : parts) {
        std::filesystem::remove(part.path, ignored);
        std::filesystem::remove(tail_path(part.path), ignored);
    }
    auto const folder = parts.front().path.parent_path();
    std::filesystem::remove(about_path(folder.parent_path()), ignored);
    std::filesystem::remove(folder, ignored);  // only when it is empty
}

std::vector<PartReader> open_parts(std::span<PartSource const> sources) {
    std::vector<PartReader> parts;
    for (auto const& source : sources) {
        auto const& part = parts.emplace_back(source);
        auto const& first = parts.front();
        ORRERY_ENSURE(part.setup().detail == first.setup().detail, "{} has detail {}, {} has {}", part.path().string(),
                      name_of(part.setup().detail), first.path().string(), name_of(first.setup().detail));
    }
    return parts;
}

// Writes what PartReader reads.
void merge_to_part(std::vector<PartReader> const& inputs, std::filesystem::path const& path) {
    auto out = hdf5::File::create(path, hdf5::Format::streaming);
    write_setup(out, inputs.front().setup());
    merge_tables(inputs, out);
    out.close();
    std::vector<TailTable> ends(timeline_table_count);
    for (std::size_t t = 0; t < ends.size(); ++t)
        for (auto const& input : inputs) ends[t].first_row += input.rows(static_cast<TableId>(t));
    write_tail(tail_path(path), {.complete_until = Time::infinity(), .state = TailNote::State::closed}, ends);
}

// Merges groups of parts until at most `fan_in` are left.
Sources reduce_fan_in(Sources parts, std::size_t fan_in, std::filesystem::path const& beside,
                      ScratchFiles& intermediate) {
    for (int pass = 1; parts.size() > fan_in; ++pass) {
        Sources merged;
        for (std::size_t first = 0; first < parts.size(); first += fan_in) {
            auto const group = std::span(parts).subspan(first, std::min(fan_in, parts.size() - first));
            auto path = beside;
            path += fmt::format(".{}-{:04}.h5", pass, merged.size());
            merged.push_back({path});
            intermediate.add(path);
            intermediate.add(tail_path(path));
            merge_to_part(open_parts(group), path);
        }
        parts = std::move(merged);
    }
    return parts;
}

std::filesystem::path range_path(std::filesystem::path const& run_h5, std::uint32_t index) {
    auto path = run_h5;
    return path += fmt::format(".range{:04}.tmp", index);
}

}  // namespace

std::uint32_t useful_ranges(std::size_t parts, std::uint32_t processes) {
    return parts <= MergeOptions{}.fan_in ? std::min<std::uint32_t>(processes, 64) : 1;
}

void remove_unfinished(std::filesystem::path const& run_h5) {
    auto const prefix = run_h5.filename().string() + ".";
    std::error_code ignored;
    ScratchFiles found;
    for (auto const& entry : std::filesystem::directory_iterator(run_h5.parent_path(), ignored)) {
        auto const name = entry.path().filename().string();
        if (name.starts_with(prefix) && (name.ends_with(".tmp") || name.ends_with(".h5"))) found.add(entry.path());
    }
}

ScratchFiles merge_range(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5,
                         MergeRange const& range) {
    ScratchFiles scratch;
    auto const path = range_path(run_h5, range.index);
    scratch.add(path);
    auto const inputs = open_parts(parts);
    auto out = hdf5::File::create(path, hdf5::Format::compatible);
    merge_tables(inputs, out, range);
    out.close();
    return scratch;
}

void write_timeline(std::vector<PartSource> const& parts, std::filesystem::path const& path,
                    MergeOptions const& options, std::function<void(hdf5::Group& file)> const& rest) {
    ORRERY_ENSURE(!parts.empty() && options.fan_in >= 2, "{} parts, fan-in {}", parts.size(), options.fan_in);
    auto temporary = path;
    temporary += ".tmp";
    ScratchFiles unfinished;
    unfinished.add(temporary);
    {
        ScratchFiles intermediate;
        auto out = hdf5::File::create(temporary, hdf5::Format::compatible);
        out.set_attribute("format", "orrery timeline");
        out.set_attribute("format_version", std::int64_t{1});
        out.set_attribute("detail", name_of(PartReader(parts.front()).setup().detail));
        if (options.ranges > 1) {
            std::vector<std::filesystem::path> ranges;
            for (std::uint32_t r = 0; r < options.ranges; ++r) ranges.push_back(range_path(path, r));
            join_tables(ranges, out);
        } else {
            merge_tables(open_parts(reduce_fan_in(parts, options.fan_in, temporary, intermediate)), out);
        }
        rest(out);
        out.close();
    }
    publish_file(temporary, path);
}

void merge_parts(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5, Manifest const& manifest,
                 FabricTables const& fabric, MergeOptions const& options) {
    write_timeline(parts, run_h5, options, [&](hdf5::Group& file) {
        auto const listed = listed_bundles(fabric.bundles, options.all_bundles);
        write_bundles(file, fabric, listed);
        write_links(file, fabric, listed);
        write_queues(file, fabric);
        write_packet_links(file, fabric);
        write_packet_trace(file, fabric);
        write_flow_times(file, fabric);
        write_manifest(file, manifest.manifest);
        write_run(file, manifest.run);
        write_summary(file, manifest.summary);
    });
    if (options.parts == PartsAfterwards::removed) remove_parts(parts);
}

}  // namespace orrery
