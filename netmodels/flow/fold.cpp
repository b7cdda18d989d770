// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/fold.hpp"

#include "core/digest.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace orrery {
namespace {

using Colours = std::vector<std::uint64_t>;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return DigestChain::mix(a * 0x9e3779b97f4a7c15U + b + 1);
}

std::uint64_t hash(FlowGraph::Kind const& kind) {
    return mix(mix(static_cast<std::uint64_t>(kind.bytes), kind.weight),
               mix(static_cast<std::uint64_t>(kind.cap.bits_per_s()), kind.mark));
}

std::size_t distinct(Colours colours) {
    std::sort(colours.begin(), colours.end());
    return static_cast<std::size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
}

// A flow's colour from those of its links, sums so that their order does not matter.
std::uint64_t colour_of(FlowGraph const& graph, std::uint32_t flow, Colours const& links) {
    std::uint64_t sum = 0;
    for (auto const& crossing : graph.crossings(flow)) sum += mix(links[crossing.link], crossing.weight);
    return mix(hash(graph.kind(flow)), sum);
}

Colours refine_links(FlowGraph const& graph) {
    Colours links(graph.links());
    for (std::uint32_t l = 0; l < graph.links(); ++l)
        links[l] = DigestChain::mix(static_cast<std::uint64_t>(graph.capacity(l)));
    auto count = distinct(links);
    for (;;) {
        Colours sums(graph.links(), 0);
        for (std::uint32_t f = 0; f < graph.flows(); ++f) {
            auto const colour = colour_of(graph, f, links);
            for (auto const& crossing : graph.crossings(f)) sums[crossing.link] += mix(colour, crossing.total) + 1;
        }
        for (std::uint32_t l = 0; l < graph.links(); ++l) links[l] = mix(links[l], sums[l]);
        auto const now = distinct(links);
        if (now == count) return links;
        count = now;
    }
}

// Numbers colours in order of first appearance; false when there are more than `most`.
bool number(Colours const& colours, std::size_t most, std::vector<std::uint32_t>& classes,
            std::vector<std::uint32_t>& representatives) {
    std::unordered_map<std::uint64_t, std::uint32_t> ids;
    classes.resize(colours.size());
    for (std::uint32_t i = 0; i < colours.size(); ++i) {
        if (i > 0 && colours[i] == colours[i - 1]) {
            classes[i] = classes[i - 1];
            continue;
        }
        auto const [it, added] = ids.try_emplace(colours[i], static_cast<std::uint32_t>(representatives.size()));
        if (added) {
            if (representatives.size() == most) return false;
            representatives.push_back(i);
        }
        classes[i] = it->second;
    }
    return true;
}

// What the flows of each class take of each link: rows of (link, class, weight), one per pair that meets.
struct Taken {
    std::uint32_t link, flow_class;
    std::uint64_t weight;
};
std::vector<Taken> taken(FlowGraph const& graph, Folding const& folding) {
    std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> of_link(graph.links());
    for (std::uint32_t f = 0; f < graph.flows(); ++f)
        for (auto const& crossing : graph.crossings(f)) {
            auto& row = of_link[crossing.link];
            auto const flow_class = folding.class_of_flow[f];
            auto const it = std::find_if(row.begin(), row.end(), [&](auto const& t) { return t.first == flow_class; });
            if (it == row.end())
                row.emplace_back(flow_class, crossing.total);
            else
                it->second += crossing.total;
        }
    std::vector<Taken> all;
    for (std::uint32_t l = 0; l < graph.links(); ++l) {
        std::sort(of_link[l].begin(), of_link[l].end());
        for (auto const& [flow_class, weight] : of_link[l]) all.push_back({l, flow_class, weight});
    }
    return all;
}

// Is every link crossed like the representative of its class? Colours are hashes: this is the proof.
bool alike(std::vector<Taken> const& rows, Folding const& folding) {
    std::vector<std::size_t> first(folding.class_of_link.size() + 1, 0);
    for (auto const& row : rows) ++first[row.link + 1];
    for (std::size_t l = 1; l < first.size(); ++l) first[l] += first[l - 1];
    for (std::uint32_t l = 0; l + 1 < first.size(); ++l) {
        auto const like = folding.link_representative[folding.class_of_link[l]];
        if (first[l + 1] - first[l] != first[like + 1] - first[like]) return false;
        for (auto i = first[l], j = first[like]; i < first[l + 1]; ++i, ++j)
            if (rows[i].flow_class != rows[j].flow_class || rows[i].weight != rows[j].weight) return false;
    }
    return true;
}

bool alike(FlowGraph const& graph, Folding const& folding) {
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    std::vector<Pair> mine;
    std::vector<std::vector<Pair>> representative(folding.classes.size());
    auto const signature = [&](std::uint32_t flow, std::vector<Pair>& out) {
        out.clear();
        for (auto const& c : graph.crossings(flow)) out.emplace_back(folding.class_of_link[c.link], c.weight);
        std::sort(out.begin(), out.end());
    };
    for (std::size_t c = 0; c < folding.classes.size(); ++c)
        signature(folding.classes[c].representative, representative[c]);
    for (std::uint32_t f = 0; f < graph.flows(); ++f) {
        auto const c = folding.class_of_flow[f];
        signature(f, mine);
        if (mine != representative[c] || graph.kind(f) != graph.kind(folding.classes[c].representative)) return false;
    }
    return true;
}

// Flows that share no link, as in a step of a ring: alike when they are of one kind and their links are, one by one. No
// refinement is needed, and every link class has one crossing. Nothing when flows do share links, or classes are many.
std::optional<Folding> fold_disjoint(FlowGraph const& graph, std::uint32_t most) {
    std::vector<std::uint8_t> crossed(graph.links(), 0);
    for (std::uint32_t f = 0; f < graph.flows(); ++f)
        for (auto const& crossing : graph.crossings(f))
            if (std::exchange(crossed[crossing.link], 1) != 0) return std::nullopt;

    auto const same = [&graph](std::uint32_t a, std::uint32_t b) {
        auto const of_a = graph.crossings(a), of_b = graph.crossings(b);
        return graph.kind(a) == graph.kind(b) &&
               std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](auto const& x, auto const& y) {
                   return graph.capacity(x.link) == graph.capacity(y.link) && x.weight == y.weight &&
                          x.total == y.total;
               });
    };
    Folding folding;
    folding.class_of_flow.resize(graph.flows());
    folding.class_of_link.resize(graph.links());
    std::uint32_t last = 0;  // the class of the flow before: most are alike
    for (std::uint32_t f = 0; f < graph.flows(); ++f) {
        auto const classes = static_cast<std::uint32_t>(folding.classes.size());
        auto found = last;
        if (classes == 0 || !same(f, folding.classes[last].representative))
            for (found = 0; found < classes && !same(f, folding.classes[found].representative);) ++found;
        if (found == classes) {
            constexpr std::uint32_t few = 8;  // more are looked for by hashing
            if (classes == std::min(most, few)) return std::nullopt;
            folding.classes.push_back({f, static_cast<std::uint32_t>(folding.crossings.size()),
                                       static_cast<std::uint32_t>(graph.crossings(f).size())});
            for (auto const& crossing : graph.crossings(f)) {
                folding.crossings.push_back(
                    {static_cast<std::uint32_t>(folding.link_representative.size()), crossing.total});
                folding.link_representative.push_back(crossing.link);
            }
        }
        auto link_class = folding.classes[found].first_crossing;  // one crossing per link class
        for (auto const& crossing : graph.crossings(f)) folding.class_of_link[crossing.link] = link_class++;
        folding.class_of_flow[f] = last = found;
    }
    return folding;
}

}  // namespace

std::uint32_t FlowGraph::add_link(std::int64_t capacity) {
    capacity_.push_back(capacity);
    return links() - 1;
}

void FlowGraph::add_flow(Kind kind, std::span<Crossing const> crossings) {
    kinds_.push_back(kind);
    crossings_.insert(crossings_.end(), crossings.begin(), crossings.end());
    first_.push_back(static_cast<std::uint32_t>(crossings_.size()));
}

void FlowGraph::clear() {
    capacity_.clear();
    kinds_.clear();
    first_.assign(1, 0);
    crossings_.clear();
}

std::optional<Folding> fold(FlowGraph const& graph, std::uint32_t most) {
    if (auto folding = fold_disjoint(graph, most)) return folding;
    auto const link_colours = refine_links(graph);
    Colours flow_colours(graph.flows());
    for (std::uint32_t f = 0; f < graph.flows(); ++f) flow_colours[f] = colour_of(graph, f, link_colours);

    Folding folding;
    std::vector<std::uint32_t> representatives;
    if (!number(flow_colours, most, folding.class_of_flow, representatives)) return std::nullopt;
    number(link_colours, graph.links(), folding.class_of_link, folding.link_representative);
    for (auto const flow : representatives) folding.classes.push_back({flow, 0, 0});
    auto const rows = taken(graph, folding);
    if (!alike(rows, folding) || !alike(graph, folding)) return std::nullopt;

    std::vector<std::vector<Folding::Crossing>> crossings(folding.classes.size());
    for (auto const& [link, flow_class, weight] : rows) {
        auto const link_class = folding.class_of_link[link];
        if (folding.link_representative[link_class] != link) continue;
        if (weight > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
        crossings[flow_class].push_back({link_class, static_cast<std::uint32_t>(weight)});
    }
    for (std::size_t c = 0; c < crossings.size(); ++c) {
        folding.classes[c].first_crossing = static_cast<std::uint32_t>(folding.crossings.size());
        folding.classes[c].crossing_count = static_cast<std::uint32_t>(crossings[c].size());
        folding.crossings.insert(folding.crossings.end(), crossings[c].begin(), crossings[c].end());
    }
    return folding;
}

}  // namespace orrery
