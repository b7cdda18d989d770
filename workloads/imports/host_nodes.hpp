// SPDX-License-Identifier: Apache-2.0
// Which nodes of an ns-3 topology file are hosts: its flows name nodes, a schedule names ranks.
#pragma once

#include "core/strictness.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

// Counts first: HPCC has 3, PowerTCP 4, SimAI 5 and a type of GPU. `head` is the beginning of the file.
bool is_ns3_topology(std::string_view head);

// The number of the rank of each node: hosts in order of their number, as fabric.kind=file numbers them; empty for
// switches.
std::vector<std::optional<std::uint32_t>> host_ranks(std::filesystem::path const& topology, Strictness strictness);

}  // namespace orrery
