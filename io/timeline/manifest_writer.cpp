// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/manifest_writer.hpp"

namespace orrery {
namespace {

void write_entries(hdf5::Group& file, char const* name, char const* long_name,
                   std::vector<ManifestEntry> const& entries) {
    auto group = file.create_group(name);
    group.set_attribute("long_name", long_name);
    for (auto const& entry : entries)
        std::visit([&](auto const& value) { group.set_attribute(entry.key, value); }, entry.value);
}

}  // namespace

void write_manifest(hdf5::Group& file, std::vector<ManifestEntry> const& entries) {
    write_entries(file, "manifest", "where the result comes from; equal for every process count", entries);
}

void write_run(hdf5::Group& file, std::vector<ManifestEntry> const& entries) {
    write_entries(file, "run", "this execution; may differ between two runs of one scenario", entries);
}

void write_summary(hdf5::Group& file, std::vector<ManifestEntry> const& entries) {
    write_entries(file, "summary", "totals of the result; equal for every process count", entries);
}

}  // namespace orrery
