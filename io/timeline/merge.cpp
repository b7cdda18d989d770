// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/merge.hpp"

#include "core/check.hpp"
#include "io/timeline/atomic_file.hpp"
#include "io/timeline/fabric_writer.hpp"
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
    std::filesystem::remove(parts.front().path.parent_path(), ignored);  // only when it is empty
}

// Removes files that are not wanted beyond a scope, whichever way it is left.
class ScratchFiles {
  public:
    ScratchFiles() = default;
    ~ScratchFiles() {
        std::error_code ignored;
        for (auto const& path : paths_) std::filesystem::remove(path, ignored);
    }
    ScratchFiles(ScratchFiles const&) = delete;
    ScratchFiles& operator=(ScratchFiles const&) = delete;
    void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }

  private:
    std::vector<std::filesystem::path> paths_;
};

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

// Merges groups of parts until at most `fan_in` are left.
Sources reduce_fan_in(Sources parts, std::size_t fan_in, ScratchFiles& intermediate) {
    for (int pass = 1; parts.size() > fan_in; ++pass) {
        Sources merged;
        for (std::size_t first = 0; first < parts.size(); first += fan_in) {
            auto const group = std::span(parts).subspan(first, std::min(fan_in, parts.size() - first));
            auto const path = parts.front().path.parent_path() / fmt::format("m{}-{:04}.h5", pass, merged.size());
            merged.push_back({path});
            intermediate.add(path);
            auto const inputs = open_parts(group);
            auto out = hdf5::File::create(path, hdf5::Format::streaming);  // what PartReader reads
            write_setup(out, inputs.front().setup());
            merge_tables(inputs, out);
            out.close();
        }
        parts = std::move(merged);
    }
    return parts;
}

void write_entries(hdf5::Group& file, char const* name, char const* long_name,
                   std::vector<ManifestEntry> const& entries) {
    auto group = file.create_group(name);
    group.set_attribute("long_name", long_name);
    for (auto const& entry : entries)
        std::visit([&](auto const& value) { group.set_attribute(entry.key, value); }, entry.value);
}

}  // namespace

void merge_parts(std::vector<PartSource> const& parts, std::filesystem::path const& run_h5, Manifest const& manifest,
                 FabricTables const& fabric, MergeOptions const& options) {
    ORRERY_ENSURE(!parts.empty() && options.fan_in >= 2, "{} parts, fan-in {}", parts.size(), options.fan_in);
    auto temporary = run_h5;
    temporary += ".tmp";
    ScratchFiles unfinished;
    unfinished.add(temporary);
    {
        ScratchFiles intermediate;
        auto const inputs = open_parts(reduce_fan_in(parts, options.fan_in, intermediate));
        auto out = hdf5::File::create(temporary, hdf5::Format::compatible);
        out.set_attribute("format", "orrery timeline");
        out.set_attribute("format_version", std::int64_t{1});
        out.set_attribute("detail", name_of(inputs.front().setup().detail));
        merge_tables(inputs, out);
        write_fabric(out, fabric, options.all_bundles);
        write_entries(out, "manifest", "where the result comes from; equal for every process count", manifest.manifest);
        write_entries(out, "run", "this execution; may differ between two runs of one scenario", manifest.run);
        write_entries(out, "summary", "totals of the result; equal for every process count", manifest.summary);
        out.close();
    }
    publish_file(temporary, run_h5);
    if (options.parts == PartsAfterwards::removed) remove_parts(parts);
}

}  // namespace orrery
