// SPDX-License-Identifier: Apache-2.0
// Routes of a graph: the family's rule while its links are up, else a shortest way hashed over equal next hops.
#include "core/check.hpp"
#include "core/random.hpp"
#include "netmodels/topology/graph_fabric.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr std::uint8_t unreached = std::numeric_limits<std::uint8_t>::max();

// One of several, the k-th of those for which `good` holds, without a list of them.
template <class Items, class Good, class Pick>
auto const* picked(Items const& items, Good const& good, Pick const& pick) {
    std::uint32_t count = 0;
    for (auto const& item : items) count += good(item) ? 1 : 0;
    auto left = count > 1 ? pick(count) : 0;
    for (auto const& item : items)
        if (good(item) && left-- == 0) return &item;
    return static_cast<decltype(&*std::begin(items))>(nullptr);
}

}  // namespace

std::uint32_t GraphFabric::hashed(RankId source, RankId target, std::uint32_t place, std::uint32_t below) const {
    auto const pair = static_cast<std::uint64_t>(source.value()) << 32 | target.value();
    auto const draw = static_cast<std::uint64_t>(philox(seed_, RandomStream::ecmp, pair, place)[0]);
    return static_cast<std::uint32_t>(draw * below >> 32);
}

bool GraphFabric::alive(Edge const& edge) const {
    for (std::uint32_t lane = 0; lane < edge.lanes; ++lane)
        if (links_[edge.first + lane].rate > Rate{}) return true;
    return false;
}

bool GraphFabric::usable(Trail const& trail) const {
    return std::all_of(trail.edges().begin(), trail.edges().end(), [this](Edge const& e) { return alive(e); });
}

// Of the lanes that are up, when each is a bundle of its own; the first one stands for all when they share one.
std::uint32_t GraphFabric::lane_of(Edge const& edge, RankId source, RankId target) const {
    if (edge.lanes == 1 || balancing_ == Balancing::spray) return edge.first;
    auto const lanes = links().subspan(edge.first, edge.lanes);
    auto const* lane = picked(
        lanes, [](Link const& link) { return link.rate > Rate{}; },
        [&](std::uint32_t count) { return hashed(source, target, edge.first, count); });
    return edge.first + static_cast<std::uint32_t>(lane - lanes.data());
}

std::vector<std::uint8_t> const& GraphFabric::distances_to(std::uint32_t node) const {
    auto& kept = distances_[node - rank_count_];
    if (kept) return *kept;
    auto hops = std::make_unique<std::vector<std::uint8_t>>(nodes_.size() - rank_count_, unreached);
    std::vector<std::uint32_t> reached{node};
    (*hops)[node - rank_count_] = 0;
    // Every link has one the other way; what counts is the one towards `node`.
    for (std::size_t i = 0; i < reached.size(); ++i) {
        auto const here = reached[i];
        auto const hop = static_cast<std::uint8_t>((*hops)[here - rank_count_] + 1);
        if (hop == unreached) break;
        for (auto const& out : edges_of(NodeId{here})) {
            if (out.to < rank_count_ || (*hops)[out.to - rank_count_] != unreached) continue;
            if (damaged_ && !alive(edge(NodeId{out.to}, NodeId{here}))) continue;
            (*hops)[out.to - rank_count_] = hop;
            reached.push_back(out.to);
        }
    }
    kept = std::move(hops);
    return *kept;
}

void GraphFabric::shortest(RankId source, RankId target, Trail& trail) const {
    trail.clear();
    NodeId const from{source.value()}, to{target.value()};
    struct Entry {
        std::uint32_t node;  // the switch through which the target is reached
        Edge down;
    };
    std::vector<Entry> entries;
    for (auto const& up : edges_of(to)) {
        if (up.to == from.value()) {
            if (auto const direct = edge(from, to); alive(direct)) return trail.add(direct);
            continue;
        }
        if (up.to < rank_count_) continue;
        if (auto const down = edge(NodeId{up.to}, to); alive(down)) entries.push_back({up.to, down});
    }
    auto const ports = edges_of(from);
    auto nearest = std::uint32_t{unreached};
    auto const hops = [&](Edge const& port, Entry const& entry) {
        if (port.to < rank_count_ || !alive(port)) return std::uint32_t{unreached};
        return std::uint32_t{distances_to(entry.node)[port.to - rank_count_]};
    };
    for (auto const& entry : entries)
        for (auto const& port : ports) nearest = std::min(nearest, hops(port, entry));
    if (nearest == unreached) refuse(source, target);

    auto const pick = [&](std::uint32_t place) {
        return [this, source, target, place](std::uint32_t count) { return hashed(source, target, place, count); };
    };
    auto const& entry = *picked(
        entries,
        [&](Entry const& e) {
            return std::any_of(ports.begin(), ports.end(), [&](Edge const& p) { return hops(p, e) == nearest; });
        },
        pick(to.value()));
    auto const& distance = distances_to(entry.node);
    auto here = from.value();
    for (auto left = nearest + 1; left-- > 0;) {
        auto const* next = picked(
            edges_of(NodeId{here}),
            [&](Edge const& e) { return e.to >= rank_count_ && distance[e.to - rank_count_] == left && alive(e); },
            pick(here));
        trail.add(*next);
        here = next->to;
    }
    trail.add(entry.down);
}

Route GraphFabric::route(RankId source, RankId target) const {
    ORRERY_EXPECT(source != target && source.value() < rank_count_ && target.value() < rank_count_);
    Trail trail;
    if (!rule(source, target, trail) || (damaged_ && !usable(trail))) shortest(source, target, trail);
    Route route;
    route.cap = unlimited_rate;
    bool hurt = false;
    for (auto const& edge : trail.edges()) {
        auto const id = links_[lane_of(edge, source, target)].bundle;
        auto const& bundle = bundles_[id.index()];
        route.hops[route.hop_count++] = id;
        route.latency += bundle.latency;
        route.cap = std::min(route.cap, bundle.capacity);
        route.domain = bundle.domain;
        hurt = hurt || hurt_[id.index()];
    }
    if (hurt) route.cap = sprayed(trail, route.cap);
    return route;
}

void GraphFabric::refuse(RankId source, RankId target) const {
    constexpr std::size_t most = 8;
    std::vector<std::string> dead;
    // Those at the pair itself first: they are the likeliest reason.
    for (bool const ends : {true, false})
        for (std::uint32_t l = 0; l < links_.size() && dead.size() <= most; ++l) {
            auto const& link = links_[l];
            auto const at_end = link.from.value() == source.value() || link.to.value() == target.value();
            if (link.rate == Rate{} && at_end == ends) dead.push_back(link_name(LinkId{l}));
        }
    if (dead.size() > most) dead.back() = "...";
    throw InputError(dead.empty()
                         ? fmt::format("no path from {} to {} (nothing links them); add a link",
                                       node_name(NodeId{source.value()}), node_name(NodeId{target.value()}))
                         : fmt::format("no path from {} to {} (down: {}); take one of them out of fabric.degrade",
                                       node_name(NodeId{source.value()}), node_name(NodeId{target.value()}),
                                       fmt::join(dead, ", ")));
}

}  // namespace orrery
