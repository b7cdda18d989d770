// SPDX-License-Identifier: Apache-2.0
// How many processes a model can put to use, from the weights of its LPs.
#pragma once

#include "partitions/partition.hpp"

#include <cstdint>
#include <span>

namespace orrery {

// What the busiest of `processes` has of all work when LPs are placed by blocks: a run on them takes at least this
// share of the time of one process. At least 1 / processes, and never less than the share of the heaviest LP.
double busiest_share(LpGraph const& graph, std::uint32_t processes);

// Every additional process shortens a run less. The useful number is the largest whose processes are busy for half of
// the time on average, 1 / (P busiest_share(P)) >= 1/2; of those that are within a tenth of its time, the smallest.
std::uint32_t useful_processes(LpGraph const& graph);

// The graph with what was measured in place of what was predicted: the busy time of a process, dealt to its LPs by
// their predicted weights. A process that was never busy leaves the prediction.
LpGraph measured_graph(LpGraph graph, std::span<std::uint32_t const> owner, std::span<double const> busy_s);

// The LP with the largest weight.
LpId heaviest_lp(LpGraph const& graph);

}  // namespace orrery
