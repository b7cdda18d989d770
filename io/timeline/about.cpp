// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/about.hpp"

#include "io/timeline/atomic_file.hpp"
#include "io/timeline/fabric_writer.hpp"
#include "io/timeline/manifest_writer.hpp"

#include <numeric>

namespace orrery {

std::filesystem::path about_path(std::filesystem::path const& directory) {
    return directory / "parts" / "about.h5";
}

void write_about(std::filesystem::path const& directory, Manifest const& manifest, FabricTables const& fabric) {
    auto const path = about_path(directory);
    make_directory(path.parent_path());
    auto temporary = path;
    temporary += ".tmp";
    auto file = hdf5::File::create(temporary, hdf5::Format::compatible);
    std::vector<std::uint32_t> all(fabric.bundles.size());
    std::iota(all.begin(), all.end(), 0U);
    write_bundles(file, fabric, all);
    write_manifest(file, manifest.manifest);
    write_run(file, manifest.run);
    file.close();
    publish_file(temporary, path);
}

void copy_about(std::filesystem::path const& directory, hdf5::Group& timeline) {
    auto const about = hdf5::File::open(about_path(directory), hdf5::ReadMode::closed);
    for (auto const name : {"fabric", "manifest", "run"}) timeline.copy_from(about, name);
}

}  // namespace orrery
