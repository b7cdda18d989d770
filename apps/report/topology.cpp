// SPDX-License-Identifier: Apache-2.0
// The fabric in groups and the heat between them. Groups that carried nothing are counted, not drawn.
#include "apps/report/collapsed_fabric.hpp"
#include "apps/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery::page {
namespace {

constexpr std::size_t most_edges = 3'000;

struct Edge {
    double mean = 0, peak = 0;
    std::int64_t bytes = 0;
    std::uint32_t row = 0;  // of the hottest bundle
    std::uint32_t bundles = 0;
};
using Ends = std::pair<std::uint32_t, std::uint32_t>;

// By block of ranks: the domain of the bundles at its ranks that carried most.
std::vector<std::uint32_t> domain_of_blocks(Fabric const& fabric, std::vector<std::int64_t> const& bytes) {
    auto const per_block = fabric.ranks_per_block();
    std::vector<std::map<std::uint32_t, std::int64_t>> sent((fabric.rank_count() + per_block - 1) / per_block);
    for (auto const& bundle : fabric.bundles()) {
        auto const& first = fabric.links()[fabric.members()[bundle.first_member].index()];
        auto const& from = fabric.nodes()[first.from.index()];
        if (from.kind == NodeKind::endpoint)
            sent[from.rank.value() / per_block][bundle.domain.value()] += bytes[first.bundle.index()] + 1;
    }
    std::vector<std::uint32_t> domains;
    for (auto const& of_block : sent) {
        auto const most = std::ranges::max_element(of_block, {}, [](auto const& entry) { return entry.second; });
        domains.push_back(most == of_block.end() ? 0 : most->first);
    }
    return domains;
}

std::map<Ends, Edge> edges_of(Fabric const& fabric, CollapsedFabric const& drawn, LinkColumns const& links,
                              LinkPeaks const& peaks) {
    std::map<Ends, Edge> edges;
    for (auto const row : peaks.hottest(links)) {  // the first one of an edge is its hottest
        auto const& bundle = fabric.bundles()[links.id[row]];
        std::map<Ends, std::int64_t> members;
        for (auto const member : fabric.members().subspan(bundle.first_member, bundle.member_count)) {
            auto const& link = fabric.links()[member.index()];
            ++members[{drawn.vertex_of[link.from.index()], drawn.vertex_of[link.to.index()]}];
        }
        for (auto const& [ends, count] : members) {
            auto& edge = edges[ends];
            auto const share = std::max(peaks.share[row], links.utilisation[row]);
            if (edge.bundles++ == 0) edge.row = row;
            edge.peak = std::max(edge.peak, share);
            edge.mean = std::max(edge.mean, links.utilisation[row]);
            edge.bytes += links.wire_bytes[row] * count / bundle.member_count;
        }
    }
    return edges;
}

}  // namespace

Json topology(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks) {
    auto const& fabric = run.fabric();
    std::vector<std::int64_t> bytes(fabric.bundles().size());
    for (std::uint32_t row = 0; row < links.size(); ++row) bytes[links.id[row]] = links.wire_bytes[row];
    CollapsedFabric const drawn(fabric, domain_of_blocks(fabric, bytes));
    auto const edges = edges_of(fabric, drawn, links, peaks);

    std::vector<std::pair<Ends, Edge>> shown(edges.begin(), edges.end());
    std::ranges::stable_sort(shown, [](auto const& a, auto const& b) { return a.second.peak > b.second.peak; });
    shown.resize(std::min(shown.size(), most_edges));
    std::vector<std::int32_t> number(drawn.vertices.size(), -1);
    for (auto const& [ends, edge] : shown) number[ends.first] = number[ends.second] = 0;
    auto vertices = Json::array(), drawn_edges = Json::array();
    for (std::size_t v = 0; v < number.size(); ++v) {
        if (number[v] < 0) continue;
        number[v] = static_cast<std::int32_t>(vertices.size());
        auto const& vertex = drawn.vertices[v];
        Json json{{"name", vertex.name}, {"tier", vertex.tier}, {"nodes", vertex.nodes}};
        if (vertex.first_rank.valid() && vertex.nodes > 1) {
            json["name"] = fmt::format("{}-{}", vertex.first_rank.value(), vertex.last_rank.value());
            json["where"] = fmt::format("ranks {} to {}; the first: {}", vertex.first_rank.value(),
                                        vertex.last_rank.value(), fabric.rank_name(vertex.first_rank));
        }
        vertices.push_back(json);
    }
    for (auto const& [ends, edge] : shown)
        drawn_edges.push_back({number[ends.first], number[ends.second], edge.mean, edge.peak, edge.bytes,
                               links.name[edge.row], links.link_class[edge.row], edge.bundles});
    return {{"vertices", vertices},
            {"edges", drawn_edges},
            {"quiet", drawn.vertices.size() - vertices.size()},
            {"edges_left_out", edges.size() - shown.size()}};
}

}  // namespace orrery::page
