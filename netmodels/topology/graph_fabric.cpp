// SPDX-License-Identifier: Apache-2.0
// Building the edges of a graph, names of its links and bundles, and what all figures begin with.
#include "netmodels/topology/graph_fabric.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {

Balancing balancing_of(std::string const& name, std::string_view field) {
    ORRERY_VALIDATE(name == "spray" || name == "ecmp", "{} is '{}' (unknown); use spray or ecmp", field, name);
    return name == "ecmp" ? Balancing::ecmp : Balancing::spray;
}

void PortSums::add(Rate sends, Rate takes) {
    up = saturating_add(up, sends);
    down = saturating_add(down, takes);
}

Rate PortSums::offered_up(PortSums const& all) const {
    return std::min(up, saturating_subtract(all.down, down));
}

Rate PortSums::offered_down(PortSums const& all) const {
    return std::min(saturating_subtract(all.up, up), down);
}

void GraphFabric::Trail::add(Edge const& edge) {
    ORRERY_VALIDATE(count_ < RouteHops::size(), "a way of more than {} hops (a route holds no more); link nodes closer",
                    RouteHops::size());
    edges_[count_++] = edge;
}

void GraphFabric::connect(std::span<Ends const> pairs, Cable const& cable, DomainId domain) {
    auto const balancing = cable.balancing.value_or(balancing_);
    for (bool const up : {true, false}) {
        bool open = false;
        for (auto const& [low, high] : pairs)
            for (std::uint32_t lane = 0; lane < cable.lanes; ++lane) {
                if (!open || balancing == Balancing::ecmp)
                    open_bundle(static_cast<std::uint16_t>(cable.link_class + (up ? 0 : 1)), domain);
                open = true;
                add_link(up ? low : high, up ? high : low, cable.rate, up ? cable.up : cable.down);
            }
    }
}

void GraphFabric::connect(NodeId low, NodeId high, Cable const& cable, DomainId domain) {
    Ends const pair{low, high};
    connect({&pair, 1}, cable, domain);
}

void GraphFabric::connect_all(NodeId low, std::span<NodeId const> high, Cable const& cable, DomainId domain) {
    std::vector<Ends> pairs;
    for (auto const other : high) pairs.push_back({low, other});
    connect(pairs, cable, domain);
}

void GraphFabric::finish() {
    // Runs of links with the same ends, in the order they were added.
    std::vector<std::uint32_t> runs;
    for (std::uint32_t l = 0; l < links_.size(); ++l)
        if (l == 0 || links_[l].from != links_[l - 1].from || links_[l].to != links_[l - 1].to) runs.push_back(l);
    first_edge_.assign(nodes_.size() + 1, 0);
    for (auto const l : runs) ++first_edge_[links_[l].from.index() + 1];
    std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
    auto place = first_edge_;
    edges_.resize(runs.size());
    for (std::size_t r = 0; r < runs.size(); ++r) {
        auto const first = runs[r];
        auto const end = r + 1 < runs.size() ? runs[r + 1] : static_cast<std::uint32_t>(links_.size());
        edges_[place[links_[first].from.index()]++] = {links_[first].to.value(), first, end - first};
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        auto const begin = edges_.begin() + first_edge_[n], end = edges_.begin() + first_edge_[n + 1];
        std::sort(begin, end, [](Edge const& a, Edge const& b) { return a.to < b.to; });
        ORRERY_ENSURE(std::adjacent_find(begin, end, [](auto const& a, auto const& b) { return a.to == b.to; }) == end,
                      "links from {} to one node are not together", node_name(NodeId{static_cast<std::uint32_t>(n)}));
    }
    nominal_.assign(link_classes_.size(), Rate{});
    for (auto const& link : links_) nominal_[bundles_[link.bundle.index()].link_class] = link.rate;
    refresh();
}

void GraphFabric::refresh() {
    damaged_ = false;
    hurt_.assign(bundles_.size(), false);
    for (auto const& link : links_) {
        damaged_ = damaged_ || link.rate == Rate{};
        if (link.rate < nominal_[bundles_[link.bundle.index()].link_class]) hurt_[link.bundle.index()] = true;
    }
    for (auto& bundle : bundles_) refresh_bundle(bundle);
    distances_.clear();
    distances_.resize(nodes_.size() - rank_count_);
    offer();
}

std::span<GraphFabric::Edge const> GraphFabric::edges_of(NodeId node) const {
    auto const first = first_edge_[node.index()];
    return {edges_.data() + first, first_edge_[node.index() + 1] - first};
}

GraphFabric::Edge GraphFabric::edge(NodeId from, NodeId to) const {
    auto const all = edges_of(from);
    auto const found = std::lower_bound(all.begin(), all.end(), to.value(),
                                        [](Edge const& e, std::uint32_t wanted) { return e.to < wanted; });
    ORRERY_ENSURE(found != all.end() && found->to == to.value(), "no link from {} to {}", node_name(from),
                  node_name(to));
    return *found;
}

// The lower node stands first. Between nodes of one tier nothing is up or down: the name tells the direction.
std::string GraphFabric::link_name(LinkId id) const {
    auto const& link = links_[id.index()];
    auto const rise = nodes_[link.to.index()].tier - nodes_[link.from.index()].tier;
    NameWriter name;
    name.text(node_name(rise < 0 ? link.to : link.from)).text("-").text(node_name(rise < 0 ? link.from : link.to));
    auto const run = edge(link.from, link.to);
    if (run.lanes > 1) name.text(".").number(id.value() - run.first, digits_for(run.lanes));
    if (rise != 0) name.text(rise > 0 ? ".up" : ".down");
    return name.take();
}

std::string GraphFabric::bundle_name(BundleId id) const {
    auto const& bundle = bundles_[id.index()];
    auto const& first = links_[bundle.first_member];
    if (bundle.member_count == 1) return link_name(LinkId{bundle.first_member});
    auto const rise = nodes_[first.to.index()].tier - nodes_[first.from.index()].tier;
    NameWriter name;
    name.text(node_name(rise < 0 ? first.to : first.from)).text("-").text(node_name(rise < 0 ? first.from : first.to));
    name.text(".*");
    if (rise != 0) name.text(rise > 0 ? ".up" : ".down");
    return name.take();
}

FabricFigures GraphFabric::counted() const {
    FabricFigures f;
    f.ranks = rank_count_;
    for (auto const& node : nodes_)
        if (!node.rank.valid()) ++(node.kind == NodeKind::switch_chip ? f.switches : f.other_nodes);
    f.links = static_cast<std::int64_t>(links_.size());
    f.classes = count_classes(nominal_);
    return f;
}

}  // namespace orrery
