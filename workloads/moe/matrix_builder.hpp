// SPDX-License-Identifier: Apache-2.0
// Counts the messages of one layer and micro-batch from the routing of every token of an expert-parallel group.
#pragma once

#include "workloads/moe/placement.hpp"
#include "workloads/moe/routing_matrix.hpp"
#include "workloads/moe/routing_source.hpp"

namespace orrery {

struct MatrixShape {
    std::uint32_t tokens_per_rank = 0;  // in one micro-batch
    std::uint32_t microbatches = 1;
    std::uint32_t top_k = 0;
};

// Any process can build any matrix, any number of times. Keeps references: source and placement must outlive it.
class MatrixBuilder {
  public:
    MatrixBuilder(RoutingSource const& routing, Placement const& placement, MatrixShape shape);

    // Allocates nothing when `out` was built before.
    void build(std::uint32_t group, std::uint32_t moe_layer, std::uint32_t microbatch, RoutingMatrix& out) const;

    // Consecutive within a rank's micro-batch and unique over groups, ranks and micro-batches; the same in every layer.
    std::uint64_t token_id(std::uint32_t group, std::uint32_t rank, std::uint32_t microbatch,
                           std::uint32_t index) const;

    std::uint32_t messages_per_token() const;

  private:
    void add_message(Replica where, std::uint32_t* row, RoutingMatrix& out) const;

    RoutingSource const& routing_;
    Placement const& placement_;
    MatrixShape shape_;
};

}  // namespace orrery
