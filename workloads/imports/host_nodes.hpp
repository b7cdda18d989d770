// SPDX-License-Identifier: Apache-2.0
// Which nodes of an ns-3 topology file are hosts: its flows name nodes, a schedule names ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace orrery {

// The number of the rank of each node: hosts in order of their number; empty for switches.
std::vector<std::optional<std::uint32_t>> host_ranks(std::filesystem::path const& topology);

}  // namespace orrery
