// SPDX-License-Identifier: Apache-2.0
// The methods behind make_partition that need more than a line, and the figures they are judged by.
#pragma once

#include "partitions/partition.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// Contiguous runs of blocks of about equal weight; LPs too heavy for that (a domain's solver) are placed first.
std::vector<std::uint32_t> assign_blocks(LpGraph const& graph, PartitionOptions const& options);

// METIS on the graph whose edges shorter than the wanted lookahead are contracted.
std::vector<std::uint32_t> assign_metis(LpGraph const& graph, PartitionOptions const& options);

PartitionReport partition_report(LpGraph const& graph, std::vector<std::uint32_t> const& owner,
                                 std::uint32_t processes);

}  // namespace orrery
