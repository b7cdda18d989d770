// SPDX-License-Identifier: Apache-2.0
// The fabric of a stored graph: routers for ranks that pass traffic on, parallel links together, figures counted.
#include "netmodels/topology/stored_graph.hpp"

#include "core/check.hpp"
#include "netmodels/topology/measure.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace orrery {
namespace {

// Up to here figures are counted by searching from every rank and by maximum flow.
constexpr std::size_t most_counted = 20'000'000;  // attachments of ranks x links
constexpr std::size_t most_cut = 50'000;          // links

// Which nodes hang together, by the smallest of them.
class Components {
  public:
    explicit Components(std::size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0U); }
    std::uint32_t of(std::uint32_t node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }
    void join(std::uint32_t a, std::uint32_t b) {
        a = of(a), b = of(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<std::uint32_t> parent_;
};

class StoredGraphFabric final : public GraphFabric {
  public:
    StoredGraphFabric(StoredGraph graph, StoredGraphOptions const& options);

    std::string kind() const override { return kind_; }
    FabricFigures figures() const override;
    std::string node_name(NodeId node) const override { return names_[node.index()]; }
    std::uint32_t ranks_per_block() const override { return ranks_per_block_; }
    std::string rank_name(RankId rank) const override { return names_[rank.index()]; }
    std::vector<std::string> const& notes() const override { return notes_; }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;

  private:
    using Line = StoredGraph::Line;
    // What the lines between two nodes become: ends in order of tiers, then numbers.
    struct Join {
        std::uint32_t low, high;
        std::vector<Line const*> lines;
    };
    void check(StoredGraph const& graph) const;
    void give_routers(StoredGraph& graph, Time injection_latency);
    void add_nodes(StoredGraph const& graph);
    std::vector<Join> joins(StoredGraph const& graph) const;
    void add_join(Join const& join, DomainId domain);
    std::uint16_t class_of(Line const& line, bool at_rank);

    std::string kind_;
    std::vector<std::string> names_, planes_, notes_;
    std::uint32_t ranks_per_block_;
    std::vector<std::uint32_t> scale_up_;  // ascending
    std::map<std::string, std::uint16_t> classes_;
};

StoredGraphFabric::StoredGraphFabric(StoredGraph graph, StoredGraphOptions const& options)
    : GraphFabric(options.seed, options.balancing), kind_(options.kind), planes_(graph.planes), notes_(graph.notes) {
    rank_count_ = graph.ranks;
    ranks_per_block_ = std::max(1U, graph.ranks_per_block);
    scale_up_ = graph.scale_up;
    std::sort(scale_up_.begin(), scale_up_.end());
    check(graph);
    give_routers(graph, options.injection_latency);
    names_ = graph.names;
    add_nodes(graph);
    auto const all = joins(graph);
    // Ranks pass nothing on, so what meets at a rank alone does not share a link.
    Components components(nodes_.size());
    for (auto const& join : all)
        if (join.low >= rank_count_) components.join(join.low, join.high);
    std::map<std::uint32_t, DomainId> domains;
    for (auto const& join : all) {
        auto const component = components.of(join.high);
        if (!domains.contains(component))
            domains.emplace(component,
                            add_domain(domains.empty() ? kind_ : fmt::format("{}.{}", kind_, domains.size())));
        add_join(join, domains.at(component));
    }
    finish();
}

void StoredGraphFabric::check(StoredGraph const& graph) const {
    std::vector<bool> linked(graph.names.size());
    for (auto const& line : graph.lines) {
        ORRERY_VALIDATE(line.a != line.b, "{}: a link from {} to itself (it would carry nothing); remove it",
                        line.where, graph.names[line.a]);
        linked[line.a] = linked[line.b] = true;
    }
    ORRERY_VALIDATE(graph.ranks > 0, "the graph has no ranks; name at least one");
    for (std::size_t n = 0; n < linked.size() && graph.names.size() > 1; ++n)
        ORRERY_VALIDATE(linked[n], "{} has no link (nothing reaches it); link it or remove it", graph.names[n]);
}

void StoredGraphFabric::give_routers(StoredGraph& graph, Time injection_latency) {
    std::vector<std::uint32_t> router(graph.ranks, 0);
    for (auto const& line : graph.lines)
        if (line.a < graph.ranks && line.b < graph.ranks) router[line.a] = router[line.b] = 1;
    std::vector<Rate> carries(graph.ranks);
    for (auto& line : graph.lines)
        for (auto* end : {&line.a, &line.b})
            if (*end < graph.ranks && router[*end] != 0)
                carries[*end] = saturating_add(carries[*end], saturating_times(line.rate, line.lanes));
    for (std::uint32_t r = 0; r < graph.ranks; ++r) {
        if (router[r] == 0) continue;
        router[r] = static_cast<std::uint32_t>(graph.names.size());
        graph.names.push_back(graph.names[r] + ".router");
    }
    for (auto& line : graph.lines)
        for (auto* end : {&line.a, &line.b})
            if (*end < graph.ranks && router[*end] != 0) *end = router[*end];
    for (std::uint32_t r = 0; r < graph.ranks; ++r)
        if (router[r] != 0)
            graph.lines.push_back({.a = r,
                                   .b = router[r],
                                   .lanes = 1,
                                   .rate = carries[r],
                                   .up = injection_latency,
                                   .down = {},
                                   .plane = 0,
                                   .where = {}});
}

// A switch is one tier above the nearest node below it.
void StoredGraphFabric::add_nodes(StoredGraph const& graph) {
    auto const count = static_cast<std::uint32_t>(graph.names.size());
    std::vector<std::vector<std::uint32_t>> next(count);
    for (auto const& line : graph.lines) {
        next[line.a].push_back(line.b);
        next[line.b].push_back(line.a);
    }
    constexpr std::uint8_t highest = 255;
    std::vector<std::uint8_t> tier(count, highest);
    std::vector<std::uint32_t> reached(graph.ranks);
    std::iota(reached.begin(), reached.end(), 0U);
    std::fill_n(tier.begin(), graph.ranks, std::uint8_t{0});
    for (std::size_t i = 0; i < reached.size(); ++i)
        for (auto const n : next[reached[i]])
            if (tier[n] == highest && tier[reached[i]] + 1 < highest) {
                tier[n] = static_cast<std::uint8_t>(tier[reached[i]] + 1);
                reached.push_back(n);
            }
    for (std::uint32_t n = 0; n < count; ++n)
        add_node(n < graph.ranks ? NodeKind::endpoint : NodeKind::switch_chip, tier[n],
                 n < graph.ranks ? RankId{n} : RankId{});
}

std::vector<StoredGraphFabric::Join> StoredGraphFabric::joins(StoredGraph const& graph) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
    std::vector<Join> result;
    for (auto const& line : graph.lines) {
        auto low = line.a, high = line.b;
        if (nodes_[low].tier > nodes_[high].tier || (nodes_[low].tier == nodes_[high].tier && low > high))
            std::swap(low, high);
        auto const [at, fresh] = known.emplace(std::pair{low, high}, result.size());
        if (fresh) result.push_back({low, high, {}});
        result[at->second].lines.push_back(&line);
    }
    return result;
}

// By plane, by whether a rank is at one end, and by rate, so that a class has one rate.
std::uint16_t StoredGraphFabric::class_of(Line const& line, bool at_rank) {
    auto const name = fmt::format("{}.{}", at_rank ? "host" : "switch", to_string(line.rate));
    auto const [at, fresh] =
        classes_.emplace(planes_[line.plane] + "." + name, static_cast<std::uint16_t>(link_classes_.size()));
    if (fresh) {
        ORRERY_VALIDATE(link_classes_.size() < 0xfff0, "{}: links of too many kinds (of rates and planes); use fewer",
                        line.where);
        link_classes_.push_back({name + ".up", planes_[line.plane]});
        link_classes_.push_back({name + ".down", planes_[line.plane]});
    }
    return at->second;
}

void StoredGraphFabric::add_join(Join const& join, DomainId domain) {
    for (bool const up : {true, false}) {
        bool open = false;
        for (auto const* line : join.lines)
            for (std::uint32_t lane = 0; lane < line->lanes; ++lane) {
                if (!open || balancing() == Balancing::ecmp)
                    open_bundle(static_cast<std::uint16_t>(class_of(*line, join.low < rank_count_) + (up ? 0 : 1)),
                                domain);
                open = true;
                add_link(NodeId{up ? join.low : join.high}, NodeId{up ? join.high : join.low}, line->rate,
                         up == (line->a == join.low) ? line->up : line->down);
            }
    }
}

// The switch of a server that both ranks are under, one of them by hash where there are several.
bool StoredGraphFabric::rule(RankId source, RankId target, Trail& trail) const {
    if (scale_up_.empty()) return false;
    auto const from = edges_of(NodeId{source.value()}), to = edges_of(NodeId{target.value()});
    std::vector<Edge> shared;
    for (auto const& up : from)
        if (std::binary_search(scale_up_.begin(), scale_up_.end(), up.to) &&
            std::any_of(to.begin(), to.end(), [&](Edge const& e) { return e.to == up.to; }))
            shared.push_back(up);
    if (shared.empty()) return false;
    auto const ways = static_cast<std::uint32_t>(shared.size());
    auto const& up = shared[ways == 1 ? 0 : hashed(source, target, source.value(), ways)];
    trail.add(up);
    trail.add(edge(NodeId{up.to}, NodeId{target.value()}));
    return true;
}

FabricFigures StoredGraphFabric::figures() const {
    auto f = counted();
    FabricMeasure const measure(*this);
    if (measure.attachments() * links_.size() <= most_counted) f.diameter_hops = measure.diameter();
    if (links_.size() <= most_cut) f.bisection = measure.halves();
    if (rank_count_ > 1) {
        auto const last = rank_count_ - 1;
        auto const reach = measure.reach(NodeId{0});
        if (reach.hops[last] > 0)
            f.paths.push_back({fmt::format("{} and {}", names_[0], names_[last]), reach.paths[last], reach.hops[last],
                               route(RankId{0}, RankId{last}).latency});
    }
    return f;
}

}  // namespace

std::unique_ptr<GraphFabric> make_graph_fabric(StoredGraph graph, StoredGraphOptions const& options) {
    return std::make_unique<StoredGraphFabric>(std::move(graph), options);
}

}  // namespace orrery
