// SPDX-License-Identifier: Apache-2.0
// Expert-parallel load balancing: replicate heavy experts, then pack replicas so that ranks carry equal load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

// Written from the description of DeepSeek's EPLB (github.com/deepseek-ai/EPLB, README). Hierarchical, when the expert
// groups divide over the nodes: pack whole groups to nodes, replicate inside each node, pack replicas to its ranks.
// Global otherwise: replicate without regard to groups, pack to all ranks. Every greedy choice takes the lowest index
// among equals, so the result is the same everywhere.
struct EplbShape {
    std::vector<std::uint32_t> slots_of_rank;  // routed slots; their sum is the number of replicas
    std::uint32_t groups = 1;
    std::uint32_t nodes = 1;  // equal blocks of ranks
};

// The expert of every routed slot, in rank order. Loads are relative and at most 2^40.
std::vector<std::int32_t> eplb_place(std::vector<std::uint64_t> const& loads, EplbShape const& shape);

// "hierarchical over 2 nodes" or "global".
std::string eplb_mode_text(std::uint32_t experts, EplbShape const& shape);

}  // namespace orrery
