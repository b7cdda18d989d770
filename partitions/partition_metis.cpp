// SPDX-License-Identifier: Apache-2.0
// Partition method "metis", for arbitrary graphs.
#include "core/check.hpp"
#include "partitions/partition_methods.hpp"

#include <metis.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

// LPs merged along edges that must not be cut (union-find with path halving), numbered densely in order of their
// smallest LP.
struct Contraction {
    std::vector<std::uint32_t> vertex;  // by LP
    std::vector<std::int64_t> weight;   // by vertex
};

Contraction contract(LpGraph const& graph, Time shortest_cut) {
    std::vector<std::uint32_t> parent(graph.size());
    std::iota(parent.begin(), parent.end(), 0U);
    auto const root = [&](std::uint32_t lp) {
        while (parent[lp] != lp) lp = parent[lp] = parent[parent[lp]];
        return lp;
    };
    for (auto const& edge : graph.edges) {
        if (edge.latency >= shortest_cut) continue;
        auto const a = root(edge.a.value()), b = root(edge.b.value());
        parent[std::max(a, b)] = std::min(a, b);
    }
    Contraction result;
    result.vertex.resize(graph.size());
    for (std::uint32_t lp = 0; lp < graph.size(); ++lp) {
        auto const top = root(lp);
        if (top == lp) {
            result.vertex[lp] = static_cast<std::uint32_t>(result.weight.size());
            result.weight.push_back(0);
        } else {
            result.vertex[lp] = result.vertex[top];  // top < lp: already numbered
        }
        result.weight[result.vertex[lp]] += graph.weight[lp];
    }
    return result;
}

// A graph as METIS wants it, with weights scaled to its 32-bit integers.
struct Csr {
    std::vector<idx_t> start{0}, neighbour, edge_weight, vertex_weight;
};

std::vector<idx_t> scaled(std::vector<std::int64_t> const& values) {
    auto const total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    auto const divisor = total / (std::numeric_limits<idx_t>::max() / 4) + 1;
    std::vector<idx_t> result;
    for (auto const value : values) result.push_back(static_cast<idx_t>(std::max<std::int64_t>(1, value / divisor)));
    return result;
}

struct Arc {
    std::uint32_t from, to;
    std::int64_t weight;
};

// `place` maps a vertex to its number in the graph handed to METIS, or to none.
constexpr std::uint32_t none = 0xffffffff;

Csr build(LpGraph const& graph, Contraction const& merged, std::vector<std::uint32_t> const& place,
          std::uint32_t vertices) {
    std::vector<Arc> arcs;
    for (auto const& edge : graph.edges) {
        auto const a = place[merged.vertex[edge.a.index()]], b = place[merged.vertex[edge.b.index()]];
        if (a == none || b == none || a == b) continue;
        arcs.push_back({a, b, edge.weight});
        arcs.push_back({b, a, edge.weight});
    }
    std::sort(arcs.begin(), arcs.end(),
              [](Arc const& x, Arc const& y) { return x.from != y.from ? x.from < y.from : x.to < y.to; });
    Csr csr;
    csr.start.assign(vertices + 1, 0);
    std::vector<std::int64_t> weights;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
        if (i > 0 && arcs[i].from == arcs[i - 1].from && arcs[i].to == arcs[i - 1].to) {
            weights.back() += arcs[i].weight;
            continue;
        }
        csr.neighbour.push_back(static_cast<idx_t>(arcs[i].to));
        weights.push_back(arcs[i].weight);
        ++csr.start[arcs[i].from + 1];
    }
    std::partial_sum(csr.start.begin(), csr.start.end(), csr.start.begin());
    csr.edge_weight = scaled(weights);
    std::vector<std::int64_t> vertex_weights(vertices);
    for (std::size_t vertex = 0; vertex < place.size(); ++vertex)
        if (place[vertex] != none) vertex_weights[place[vertex]] = merged.weight[vertex];
    csr.vertex_weight = scaled(vertex_weights);
    return csr;
}

std::vector<idx_t> call_metis(Csr& csr, idx_t parts, std::uint64_t seed) {
    auto vertices = static_cast<idx_t>(csr.vertex_weight.size());
    idx_t constraints = 1, cut = 0;
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed % 0x7fffffff);
    std::vector<idx_t> part(csr.vertex_weight.size(), 0);
    // Recursive bisection gives the better cut up to about eight parts (METIS manual, 4.3).
    auto* const partition = parts <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    int const status =
        partition(&vertices, &constraints, csr.start.data(), csr.neighbour.data(), csr.vertex_weight.data(), nullptr,
                  csr.edge_weight.data(), &parts, nullptr, nullptr, options.data(), &cut, part.data());
    ORRERY_ENSURE(status == METIS_OK, "METIS gave up on {} vertices in {} parts with status {}", vertices, parts,
                  status);
    return part;
}

}  // namespace

std::vector<std::uint32_t> assign_metis(LpGraph const& graph, PartitionOptions const& options) {
    auto const merged = contract(graph, std::max(options.wanted_lookahead, Time::from_ps(1)));
    std::vector<std::uint32_t> heaviest(merged.weight.size());
    std::iota(heaviest.begin(), heaviest.end(), 0U);
    std::sort(heaviest.begin(), heaviest.end(), [&](std::uint32_t a, std::uint32_t b) {
        return merged.weight[a] != merged.weight[b] ? merged.weight[a] > merged.weight[b] : a < b;
    });

    // What is heavier than a fair share of the rest has a process of its own; METIS would answer with empty parts.
    std::vector<std::uint32_t> part(merged.weight.size(), 0);
    auto left = std::accumulate(merged.weight.begin(), merged.weight.end(), std::int64_t{0});
    std::uint32_t first_free = 0;
    std::size_t placed = 0;
    while (placed < heaviest.size() && first_free + 1 < options.processes &&
           merged.weight[heaviest[placed]] * (options.processes - first_free) >= left) {
        left -= merged.weight[heaviest[placed]];
        part[heaviest[placed++]] = first_free++;
    }
    auto const parts = options.processes - first_free;
    auto const vertices = static_cast<std::uint32_t>(heaviest.size() - placed);
    std::vector<std::uint32_t> place(merged.weight.size(), none);
    std::vector<std::uint32_t> rest(heaviest.begin() + static_cast<std::ptrdiff_t>(placed), heaviest.end());
    std::sort(rest.begin(), rest.end());
    for (std::uint32_t i = 0; i < vertices; ++i) place[rest[i]] = i;
    auto csr = build(graph, merged, place, vertices);

    if (parts > 1 && vertices >= 4 * parts && !csr.neighbour.empty()) {
        auto const found = call_metis(csr, static_cast<idx_t>(parts), options.seed);
        for (std::uint32_t i = 0; i < vertices; ++i) part[rest[i]] = first_free + static_cast<std::uint32_t>(found[i]);
    } else {
        // Too few pieces to have a choice of cuts: balance them.
        std::vector<std::int64_t> load(parts, 0);
        for (auto i = placed; i < heaviest.size(); ++i) {
            auto const least = std::min_element(load.begin(), load.end());
            *least += merged.weight[heaviest[i]];
            part[heaviest[i]] = first_free + static_cast<std::uint32_t>(least - load.begin());
        }
    }
    std::vector<std::uint32_t> owner(graph.size());
    for (std::size_t lp = 0; lp < owner.size(); ++lp) owner[lp] = part[merged.vertex[lp]];
    return owner;
}

}  // namespace orrery
