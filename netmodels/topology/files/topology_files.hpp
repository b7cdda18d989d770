// SPDX-License-Identifier: Apache-2.0
// The formats of topology files that are read: each a function from the text of a file to a graph, or to dimensions.
#pragma once

#include "netmodels/topology/files/topology_text.hpp"
#include "netmodels/topology/product_fabric.hpp"
#include "netmodels/topology/stored_graph.hpp"

namespace orrery {

// HPCC and other ns-3 RDMA trees: "nodes switches links", the switches, then "from to rate delay error" for each link.
// SimAI: "nodes gpus-per-server nvswitches switches links gpu-type"; NVSwitches are listed before the switches, and are
// no ranks. Parallel lines are parallel links.
StoredGraph read_ns3_topology(TopologyText const& file, Strictness strictness);

// htsim .topo: a fat-tree of 2 or 3 tiers by radix, speed and latency of each.
StoredGraph read_htsim_topology(TopologyText const& file, Strictness strictness);

// ASTRA-sim's analytical network: kinds, sizes, bandwidths (1 GB is 2^30 bytes) and latencies (ns) of dimensions.
ProductShape read_astra_network(TopologyText const& file, Strictness strictness);

// ASTRA-sim's logical dimensions: sizes alone; each becomes a switch with the given links.
ProductShape read_astra_dimensions(TopologyText const& file, Rate rate, Time latency);

}  // namespace orrery
