// SPDX-License-Identifier: Apache-2.0
// Names and figures of a product of dimensions.
#include "netmodels/topology/product_fabric.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

// Links of one direction that every way of cutting a line into halves crosses at least.
std::int64_t cut_of(ProductDimension const& d) {
    std::int64_t const half = d.size / 2;
    switch (d.kind) {
        case ProductDimension::Kind::ring:
            return d.size > 2 ? 2 : 1;
        case ProductDimension::Kind::line:
            return 1;
        case ProductDimension::Kind::full:
            return half * (d.size - half);
        case ProductDimension::Kind::switched:
            return half;
    }
    return 0;
}

// Steps along a dimension of the farthest pair, and how many hops a step has.
std::uint32_t longest(ProductDimension const& d) {
    if (d.size == 1) return 0;
    return d.kind == ProductDimension::Kind::ring   ? d.size / 2
           : d.kind == ProductDimension::Kind::line ? d.size - 1
                                                    : 1;
}
std::uint32_t step_hops(ProductDimension const& d) {
    return d.kind == ProductDimension::Kind::switched ? 2 : 1;
}

// Orders in which the steps along all dimensions can be taken, times two for each ring that can be gone round either
// way; the largest number that can be told stands for more.
std::int64_t shortest_paths(std::vector<ProductDimension> const& dimensions) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Int128 ways = 1;
    std::uint32_t steps = 0;
    for (auto const& d : dimensions) {
        for (std::uint32_t k = 1; k <= longest(d); ++k) {
            ways = ways * ++steps / k;
            if (ways > most / 128) return most;
        }
        if (d.kind == ProductDimension::Kind::ring && d.size > 2 && d.size % 2 == 0) ways *= 2;
    }
    return static_cast<std::int64_t>(ways);
}

}  // namespace

// Coordinates, outermost first, as numbers are written; `x` stands for all along a line.
std::string ProductFabric::point_name(std::uint32_t point, std::int64_t without_dimension) const {
    NameWriter name;
    for (auto d = static_cast<std::int64_t>(shape_.dimensions.size()) - 1; d >= 0; --d) {
        auto const dimension = static_cast<std::uint32_t>(d);
        if (d == without_dimension)
            name.text("x");
        else
            name.number(place(point, dimension), digits_for(shape_.dimensions[dimension].size));
        if (d > 0) name.text(".");
    }
    return name.take();
}

std::string ProductFabric::node_name(NodeId node) const {
    auto const id = node.value();
    auto const per_router = shape_.ranks_per_router;
    if (id < rank_count_) {
        auto name = "n" + point_name(id / per_router, -1);
        return per_router == 1
                   ? name
                   : NameWriter{}.text(name).text(".t").number(id % per_router, digits_for(per_router)).take();
    }
    if (!direct_ && id < rank_count_ + points_) return "r" + point_name(id - rank_count_, -1);
    auto dimension = static_cast<std::uint32_t>(shape_.dimensions.size() - 1);
    while (first_switch_[dimension] > id) --dimension;
    auto const line = id - first_switch_[dimension], stride = stride_[dimension];
    auto const point = line / stride * stride * shape_.dimensions[dimension].size + line % stride;
    return "s" + point_name(point, dimension);
}

std::uint32_t ProductFabric::ranks_per_block() const {
    return shape_.dimensions.size() == 1 ? shape_.ranks_per_router
                                         : shape_.dimensions.front().size * shape_.ranks_per_router;
}

std::string ProductFabric::rank_name(RankId rank) const {
    auto const point = point_name(rank.value() / shape_.ranks_per_router, -1);
    if (shape_.ranks_per_router == 1) return fmt::format("point {}", point);
    return fmt::format("router {}, rank {}", point, rank.value() % shape_.ranks_per_router);
}

FabricFigures ProductFabric::figures() const {
    auto f = counted();
    auto const& dimensions = shape_.dimensions;
    std::int64_t const ends = direct_ ? 0 : 2;
    auto const inside = direct_ ? Time{} : shape_.injection_latency + shape_.ejection_latency;
    f.diameter_hops = rank_count_ > 1 ? ends : 0;
    auto farthest = inside;
    std::int64_t halved = 0;
    for (std::uint32_t d = 0; d < dimensions.size(); ++d) {
        auto const& one = dimensions[d];
        if (one.size == 1) continue;
        f.diameter_hops += std::int64_t{longest(one)} * step_hops(one);
        farthest += one.latency * (std::int64_t{longest(one)} * step_hops(one));
        f.paths.push_back({fmt::format("neighbours in dimension {}", d), 1, ends + step_hops(one),
                           inside + one.latency * step_hops(one)});
        auto const cut = saturating_times(one.rate, cut_of(one) * one.lanes * (points_ / one.size));
        f.bisection = halved++ == 0 ? cut : std::min(f.bisection, cut);
    }
    if (shape_.ranks_per_router > 1) f.paths.push_back({"ranks of one router", 1, 2, inside});
    f.paths.push_back({"the farthest", shortest_paths(dimensions), f.diameter_hops, farthest});
    return f;
}

}  // namespace orrery
