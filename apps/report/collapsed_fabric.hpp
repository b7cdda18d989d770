// SPDX-License-Identifier: Apache-2.0
// A fabric small enough to be drawn: ranks of a node or leaf are one vertex, and so are switches that join the same.
#pragma once

#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct CollapsedFabric {
    struct Vertex {
        std::string name;
        std::uint8_t tier = 0;
        std::uint32_t nodes = 0;           // ranks or switches that it stands for
        RankId first_rank{}, last_rank{};  // of ranks
    };
    std::vector<Vertex> vertices;
    std::vector<std::uint32_t> vertex_of;  // by NodeId

    // `domain_of_block`: for each block of ranks the domain that it sends most in.
    CollapsedFabric(Fabric const& fabric, std::vector<std::uint32_t> const& domain_of_block);
};

}  // namespace orrery
