// SPDX-License-Identifier: Apache-2.0
// Writes /fabric/bundles and /links of a finished timeline. Internal to the timeline.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"

namespace orrery {

void write_fabric(hdf5::Group& file, FabricTables const& fabric, std::size_t all_bundles);

}  // namespace orrery
