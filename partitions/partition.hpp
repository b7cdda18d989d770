// SPDX-License-Identifier: Apache-2.0
// Which process owns which LP, and what that choice costs: cut, imbalance, lookahead.
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct LpEdge {
    LpId a, b;
    Time latency;             // the least time between a cause in one and its effect in the other
    std::int64_t weight = 1;  // relative traffic
};

struct LpGraph {
    std::vector<std::int64_t> weight;  // per LP: predicted events, at least 1
    std::vector<std::uint32_t> block;  // per LP: LPs of one block stay together when they can
    std::vector<LpEdge> edges;         // undirected; may be empty
    std::size_t size() const { return weight.size(); }
};

struct PartitionOptions {
    std::string method = "blocks";  // one of partition_methods()
    std::uint32_t processes = 1;
    std::uint64_t seed = 1;
    // Edges shorter than this are not cut by "metis" (their ends are merged first). Zero: any positive edge may be cut.
    Time wanted_lookahead;
};

struct PartitionReport {
    std::int64_t cut_edges = 0;
    std::int64_t cut_weight = 0;
    double imbalance = 1;               // largest weight of a process over the mean
    Time lookahead = Time::infinity();  // least latency over cut edges; infinity: nothing is cut
    std::vector<std::int64_t> process_weight;
    std::uint32_t empty_processes = 0;
    std::vector<LpEdge> limiting;  // at most three cut edges of that latency
    std::string text;              // two or three lines for people
};

struct Partition {
    std::vector<std::uint32_t> owner;  // by LP id
    PartitionReport report;
};

std::vector<std::string> partition_methods();  // blocks, metis, random, round_robin

// Pure: the same on every process, so nothing needs broadcasting. `name` makes the report readable; a cut edge without
// latency is an InputError that names it. More processes than LPs is fine: some own nothing.
Partition make_partition(LpGraph const& graph, PartitionOptions const& options,
                         std::function<std::string(LpId)> const& name);

}  // namespace orrery
