// SPDX-License-Identifier: Apache-2.0
// Writes /fabric/bundles, /links, /queues, /flow_*, /packet_links and /packet_trace of a finished timeline. Internal to
// the timeline.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

// All bundles of a fabric that has at most `all_bundles`, else those that carried traffic.
std::vector<std::uint32_t> listed_bundles(BundleTable const& table, std::size_t all_bundles);

void write_bundles(hdf5::Group& file, FabricTables const& fabric, std::vector<std::uint32_t> const& listed);
void write_links(hdf5::Group& file, FabricTables const& fabric, std::vector<std::uint32_t> const& listed);
// Both of the packet model; another one leaves nothing.
void write_queues(hdf5::Group& file, FabricTables const& fabric);
void write_flow_times(hdf5::Group& file, FabricTables const& fabric);
// The same: /packet_links, and /packet_trace where a scenario asks for one.
void write_packet_links(hdf5::Group& file, FabricTables const& fabric);
void write_packet_trace(hdf5::Group& file, FabricTables const& fabric);

}  // namespace orrery
