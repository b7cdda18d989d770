// SPDX-License-Identifier: Apache-2.0
// Products of dimensions: torus, mesh, HyperX, full meshes, and the rings, switches and full meshes of ASTRA-sim.
//
// Routers stand at the points of a grid; those that differ in one coordinate only form a line, joined as its dimension
// says. Routes go dimension by dimension, the first (innermost) one first: shortest ways that never turn back. Each
// router has ranks beside it. A single switch or full mesh passes nothing on, so there ranks take the routers' places.
#pragma once

#include "netmodels/topology/graph_fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProductDimension {
    enum class Kind : std::uint8_t { ring, line, full, switched };
    Kind kind = Kind::ring;
    std::uint32_t size = 1, lanes = 1;
    Rate rate;     // of one link
    Time latency;  // of one link, with what is behind it
};

struct ProductShape {
    std::string kind;  // of the fabric
    std::vector<ProductDimension> dimensions;
    std::uint32_t ranks_per_router = 1;
    Rate injection_rate;     // zero: what all links of the router carry
    Time injection_latency;  // rank to router
    Time ejection_latency;   // router to rank
    std::vector<std::string> notes = {};
};

// "4x4x8" -> {4, 4, 8}; `field` is where it is written, for the message.
std::vector<std::uint32_t> grid_shape(std::string_view text, std::string_view field);

class ProductFabric final : public GraphFabric {
  public:
    ProductFabric(ProductShape shape, std::uint64_t seed);

    std::string kind() const override { return shape_.kind; }
    FabricFigures figures() const override;
    std::string node_name(NodeId node) const override;
    std::uint32_t ranks_per_block() const override;
    std::string rank_name(RankId rank) const override;
    std::vector<std::string> const& notes() const override { return shape_.notes; }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;

  private:
    using Kind = ProductDimension::Kind;
    void join(std::uint32_t dimension, DomainId domain);
    Rate router_rate() const;
    // A point of the grid is a number; `place` is its coordinate in a dimension.
    std::uint32_t place(std::uint32_t point, std::uint32_t dimension) const {
        return point / stride_[dimension] % shape_.dimensions[dimension].size;
    }
    NodeId router(std::uint32_t point) const { return NodeId{direct_ ? point : rank_count_ + point}; }
    NodeId line_switch(std::uint32_t dimension, std::uint32_t point) const;
    std::string point_name(std::uint32_t point, std::int64_t without_dimension) const;
    // The next point on a ring or line towards another place.
    std::uint32_t stepped(std::uint32_t point, std::uint32_t dimension, std::uint32_t towards, bool tie_down) const;

    ProductShape shape_;
    std::uint32_t points_ = 1;
    bool direct_ = false;                      // ranks are the points: nothing is passed on
    std::vector<std::uint32_t> stride_;        // of a dimension in points
    std::vector<std::uint32_t> first_switch_;  // by dimension: node number of its first switch
};

}  // namespace orrery
