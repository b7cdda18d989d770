// SPDX-License-Identifier: Apache-2.0
// A graph as it was written down, in a scenario or in a file of another simulator, and the fabric it makes.
#pragma once

#include "netmodels/topology/graph_fabric.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

struct StoredGraph {
    // Links both ways between two nodes; those between the same nodes are parallel, whatever stands between them.
    struct Line {
        std::uint32_t a = 0, b = 0;  // nodes
        std::uint32_t lanes = 1;
        Rate rate;      // of one lane
        Time up, down;  // latency from a to b, and back
        std::uint32_t plane = 0;
        std::string where;  // for messages
    };
    std::vector<std::string> names;  // of nodes: ranks first
    std::uint32_t ranks = 0;
    std::uint32_t ranks_per_block = 1;
    // Switches of a server: two ranks under one of them use it, whatever other way is as short.
    std::vector<std::uint32_t> scale_up;
    std::vector<Line> lines;
    std::vector<std::string> planes{"fabric"};
    std::vector<std::string> notes;  // what was not taken as it was written
};

struct StoredGraphOptions {
    std::string kind = "graph";
    std::uint64_t seed = 1;
    Balancing balancing = Balancing::spray;
    // Only switches pass traffic on: a rank with links to ranks gets a router, which takes over its links, this far
    // away.
    Time injection_latency;
};

// Refuses a line from a node to itself and nodes without a line.
std::unique_ptr<GraphFabric> make_graph_fabric(StoredGraph graph, StoredGraphOptions const& options);

}  // namespace orrery
