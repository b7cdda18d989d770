// SPDX-License-Identifier: Apache-2.0
// Breadth-first search and maximum flow (Dinic, 1970) over the links of a fabric.
#include "netmodels/topology/measure.hpp"

#include "netmodels/topology/built_fabric.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace orrery {
namespace {

// A network with one source and one sink; arcs stand in pairs, each behind its reverse.
class MaximumFlow {
  public:
    explicit MaximumFlow(std::size_t nodes) : out_(nodes), level_(nodes), next_(nodes) {}

    void add(std::uint32_t from, std::uint32_t to, Rate rate) {
        out_[from].push_back(static_cast<std::uint32_t>(arcs_.size()));
        arcs_.push_back({to, rate.bits_per_s()});
        out_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
        arcs_.push_back({from, 0});
    }

    std::int64_t solve(std::uint32_t source, std::uint32_t sink) {
        std::int64_t sum = 0;
        while (levels(source, sink)) {
            std::fill(next_.begin(), next_.end(), 0);
            while (auto const more = push(source, sink, unlimited_rate.bits_per_s())) sum += more;
        }
        return sum;
    }

  private:
    struct Arc {
        std::uint32_t to;
        std::int64_t room;
    };

    bool levels(std::uint32_t source, std::uint32_t sink) {
        std::fill(level_.begin(), level_.end(), -1);
        level_[source] = 0;
        std::vector<std::uint32_t> queue{source};
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (auto const a : out_[queue[i]])
                if (arcs_[a].room > 0 && level_[arcs_[a].to] < 0) {
                    level_[arcs_[a].to] = level_[queue[i]] + 1;
                    queue.push_back(arcs_[a].to);
                }
        return level_[sink] >= 0;
    }

    // As deep as the levels, which are few.
    std::int64_t push(std::uint32_t at, std::uint32_t sink, std::int64_t room) {
        if (at == sink) return room;
        for (auto& i = next_[at]; i < out_[at].size(); ++i) {
            auto const a = out_[at][i];
            auto& arc = arcs_[a];
            if (arc.room == 0 || level_[arc.to] != level_[at] + 1) continue;
            if (auto const sent = push(arc.to, sink, std::min(room, arc.room))) {
                arc.room -= sent;
                arcs_[a ^ 1].room += sent;
                return sent;
            }
        }
        return 0;
    }

    std::vector<Arc> arcs_;
    std::vector<std::vector<std::uint32_t>> out_;
    std::vector<std::int32_t> level_;
    std::vector<std::size_t> next_;
};

}  // namespace

FabricMeasure::FabricMeasure(Fabric const& fabric) : fabric_(&fabric), first_(fabric.nodes().size() + 1, 0) {
    auto const links = fabric.links();
    for (auto const& link : links) ++first_[link.from.index() + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    auto place = first_;
    out_.resize(links.size());
    for (std::uint32_t l = 0; l < links.size(); ++l) out_[place[links[l].from.index()]++] = l;
    std::set<std::vector<NodeId>> seen;
    for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
        if (!fabric.nodes()[n].rank.valid()) continue;
        std::vector<NodeId> next;
        for (auto o = first_[n]; o < first_[n + 1]; ++o)
            if (links[out_[o]].rate > Rate{}) next.push_back(links[out_[o]].to);
        std::sort(next.begin(), next.end());
        if (seen.insert(std::move(next)).second) attached_.push_back(NodeId{n});
    }
}

FabricMeasure::Reach FabricMeasure::reach(NodeId from) const {
    auto const nodes = fabric_->nodes();
    Reach result{std::vector<std::int64_t>(nodes.size(), -1), std::vector<std::int64_t>(nodes.size(), 0)};
    std::vector<NodeId> queue{from};
    result.hops[from.index()] = 0;
    result.paths[from.index()] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        auto const here = queue[i];
        if (here != from && nodes[here.index()].rank.valid()) continue;
        for (auto o = first_[here.index()]; o < first_[here.index() + 1]; ++o) {
            auto const& link = fabric_->links()[out_[o]];
            if (link.rate == Rate{}) continue;
            auto& hops = result.hops[link.to.index()];
            if (hops < 0) {
                hops = result.hops[here.index()] + 1;
                queue.push_back(link.to);
            }
            if (hops == result.hops[here.index()] + 1) result.paths[link.to.index()] += result.paths[here.index()];
        }
    }
    return result;
}

std::int64_t FabricMeasure::diameter() const {
    std::int64_t most = 0;
    auto const nodes = fabric_->nodes();
    for (auto const from : attached_) {
        auto const hops = reach(from).hops;
        for (std::uint32_t n = 0; n < nodes.size(); ++n)
            if (nodes[n].rank.valid()) most = std::max(most, hops[n]);
    }
    return most;
}

Rate FabricMeasure::halves() const {
    auto const nodes = fabric_->nodes();
    auto const source = static_cast<std::uint32_t>(nodes.size()), sink = source + 1, ranks = fabric_->rank_count();
    MaximumFlow flow(nodes.size() + 2);
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        if (!nodes[n].rank.valid()) continue;
        if (nodes[n].rank.value() < ranks / 2)
            flow.add(source, n, unlimited_rate);
        else
            flow.add(n, sink, unlimited_rate);
    }
    // Ranks of one half pass nothing on: what ends at a lower one, or begins at an upper one, does not count.
    for (auto const& link : fabric_->links()) {
        auto const from = nodes[link.from.index()].rank, to = nodes[link.to.index()].rank;
        if (link.rate == Rate{} || (to.valid() && to.value() < ranks / 2) ||
            (from.valid() && from.value() >= ranks / 2))
            continue;
        flow.add(link.from.value(), link.to.value(), link.rate);
    }
    return Rate::from_bits_per_s(flow.solve(source, sink));
}

}  // namespace orrery
