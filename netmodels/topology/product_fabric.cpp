// SPDX-License-Identifier: Apache-2.0
// Building a product of dimensions, and routing it dimension by dimension.
#include "netmodels/topology/product_fabric.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <charconv>

namespace orrery {
namespace {

constexpr std::uint64_t most_points = std::uint64_t{1} << 24;

}  // namespace

std::vector<std::uint32_t> grid_shape(std::string_view text, std::string_view field) {
    std::vector<std::uint32_t> sizes;
    for (auto rest = text;;) {
        std::uint32_t size = 0;
        auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        ORRERY_VALIDATE(error == std::errc{} && size > 0 && (rest.empty() || rest.front() == 'x'),
                        "{} is '{}' (sizes above 0 joined by x); write 4x4x8", field, text);
        sizes.push_back(size);
        if (rest.empty()) return sizes;
        rest.remove_prefix(1);
    }
}

ProductFabric::ProductFabric(ProductShape shape, std::uint64_t seed)
    : GraphFabric(seed, Balancing::spray), shape_(std::move(shape)) {
    auto const& dimensions = shape_.dimensions;
    ORRERY_VALIDATE(!dimensions.empty(), "the fabric has no dimension; name one");
    std::uint64_t points = 1;
    std::uint32_t hops = 2;
    for (auto const& d : dimensions) {
        stride_.push_back(static_cast<std::uint32_t>(points));
        points *= d.size;
        ORRERY_VALIDATE(points * shape_.ranks_per_router <= most_points, "the fabric has more than {} ranks; use fewer",
                        most_points);
        hops += d.kind == Kind::ring ? d.size / 2 : d.kind == Kind::line ? d.size - 1 : d.kind == Kind::full ? 1 : 2;
    }
    ORRERY_VALIDATE(hops <= RouteHops::size(), "the longest way has {} hops (a route holds {}); use shorter dimensions",
                    hops, RouteHops::size());
    points_ = static_cast<std::uint32_t>(points);
    direct_ = dimensions.size() == 1 && shape_.ranks_per_router == 1 &&
              (dimensions[0].kind == Kind::full || dimensions[0].kind == Kind::switched);
    rank_count_ = points_ * shape_.ranks_per_router;
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_node(NodeKind::endpoint, 0, RankId{r});
    if (!direct_)
        for (std::uint32_t p = 0; p < points_; ++p) add_node(NodeKind::switch_chip, 1);
    for (auto const& d : dimensions) {
        first_switch_.push_back(static_cast<std::uint32_t>(nodes_.size()));
        for (std::uint32_t s = 0; d.kind == Kind::switched && s < points_ / d.size; ++s)
            add_node(NodeKind::switch_chip, 2);
    }
    auto const domain = add_domain(shape_.kind);
    for (std::uint32_t d = 0; d < dimensions.size(); ++d) {
        auto const name = fmt::format("dim{}", d);
        link_classes_.push_back({name + ".up", "fabric"});
        link_classes_.push_back({name + ".down", "fabric"});
    }
    link_classes_.push_back({"rank.up", "fabric"});
    link_classes_.push_back({"rank.down", "fabric"});
    if (!direct_) {
        auto const rate = shape_.injection_rate > Rate{} ? shape_.injection_rate : router_rate();
        for (std::uint32_t r = 0; r < rank_count_; ++r)
            connect(NodeId{r}, router(r / shape_.ranks_per_router),
                    {.rate = rate,
                     .up = shape_.injection_latency,
                     .down = shape_.ejection_latency,
                     .link_class = static_cast<std::uint16_t>(2 * dimensions.size())},
                    domain);
    }
    for (std::uint32_t d = 0; d < dimensions.size(); ++d) join(d, domain);
    finish();
}

// Of the router with most links.
Rate ProductFabric::router_rate() const {
    Rate sum;
    for (auto const& d : shape_.dimensions) {
        auto const links = d.size == 1                ? 0
                           : d.kind == Kind::full     ? d.size - 1
                           : d.kind == Kind::switched ? 1
                                                      : std::min(d.size - 1, 2U);
        sum = saturating_add(sum, saturating_times(d.rate, std::int64_t{links} * d.lanes));
    }
    return std::max(sum, Rate::from_bits_per_s(1));
}

void ProductFabric::join(std::uint32_t dimension, DomainId domain) {
    auto const& d = shape_.dimensions[dimension];
    if (d.size == 1) return;
    Cable const cable{.lanes = d.lanes,
                      .rate = d.rate,
                      .up = d.latency,
                      .down = d.latency,
                      .link_class = static_cast<std::uint16_t>(2 * dimension)};
    for (std::uint32_t p = 0; p < points_; ++p) {
        auto const here = place(p, dimension);
        auto const to = [&](std::uint32_t other) {
            connect(router(p), router(p + (other - here) * stride_[dimension]), cable, domain);
        };
        if (d.kind == Kind::switched) connect(router(p), line_switch(dimension, p), cable, domain);
        if (d.kind == Kind::full)
            for (auto other = here + 1; other < d.size; ++other) to(other);
        if (d.kind == Kind::ring || d.kind == Kind::line) {
            if (here + 1 < d.size) to(here + 1);
            if (d.kind == Kind::ring && here == 0 && d.size > 2) to(d.size - 1);
        }
    }
}

NodeId ProductFabric::line_switch(std::uint32_t dimension, std::uint32_t point) const {
    auto const size = shape_.dimensions[dimension].size, stride = stride_[dimension];
    return NodeId{first_switch_[dimension] + point / (stride * size) * stride + point % stride};
}

std::uint32_t ProductFabric::stepped(std::uint32_t point, std::uint32_t dimension, std::uint32_t towards,
                                     bool tie_down) const {
    auto const& d = shape_.dimensions[dimension];
    auto const here = place(point, dimension);
    auto up = here < towards;
    if (d.kind == Kind::ring) {
        auto const ahead = (towards + d.size - here) % d.size;
        up = 2 * ahead < d.size || (2 * ahead == d.size && !tie_down);
    }
    auto const next = up ? (here + 1) % d.size : (here + d.size - 1) % d.size;
    return point + (next - here) * stride_[dimension];
}

bool ProductFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto point = source.value() / shape_.ranks_per_router;
    auto const goal = target.value() / shape_.ranks_per_router;
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        trail.add(edge(at, next));
        at = next;
    };
    if (!direct_) go(router(point));
    for (std::uint32_t d = 0; d < shape_.dimensions.size(); ++d) {
        auto const towards = place(goal, d);
        auto const kind = shape_.dimensions[d].kind;
        // Half-way round a ring both ways are as long: points take turns, or one direction would carry all of it.
        bool const tie_down = place(point, d) % 2 == 1;
        while (place(point, d) != towards) {
            if (kind == Kind::switched) go(line_switch(d, point));
            point = kind == Kind::ring || kind == Kind::line ? stepped(point, d, towards, tie_down)
                                                             : point + (towards - place(point, d)) * stride_[d];
            go(router(point));
        }
    }
    if (!direct_) go(NodeId{target.value()});
    return true;
}

}  // namespace orrery
