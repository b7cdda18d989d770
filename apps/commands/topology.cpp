// SPDX-License-Identifier: Apache-2.0
// orrery topology: the fabric of a scenario as a drawing (SVG), for Graphviz (DOT), or as data (JSON).
#include "apps/commands/command.hpp"
#include "core/check.hpp"
#include "io/scenario/load.hpp"
#include "netmodels/topology/registry.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace orrery {
namespace {

// The links between two nodes, whichever way they go: what a drawing shows as one line.
struct Wire {
    NodeId a, b;
    std::uint32_t links = 0, down = 0;  // of the direction with more of them
    Rate rate;                          // of all that are up, one direction
    Time latency;
    std::uint16_t plane = 0;  // index of its first link's class
};

std::vector<Wire> wires_of(Fabric const& fabric) {
    struct Way {
        std::uint32_t links = 0, down = 0;
        Rate rate;
    };
    std::map<std::pair<NodeId, NodeId>, std::array<Way, 2>> ways;
    std::map<std::pair<NodeId, NodeId>, Wire> wires;
    for (auto const& link : fabric.links()) {
        auto const ends = std::minmax(link.from, link.to);
        auto& way = ways[ends][link.from < link.to ? 0 : 1];
        ++way.links;
        way.down += link.rate == Rate{} ? 1 : 0;
        way.rate += link.rate;
        auto const [at, fresh] = wires.emplace(ends, Wire{.a = ends.first, .b = ends.second});
        if (fresh) at->second.plane = fabric.bundles()[link.bundle.index()].link_class;
        at->second.latency = std::max(at->second.latency, link.latency);
    }
    std::vector<Wire> result;
    for (auto& [ends, wire] : wires) {
        for (auto const& way : ways[ends]) {
            wire.links = std::max(wire.links, way.links);
            wire.down = std::max(wire.down, way.down);
            wire.rate = std::max(wire.rate, way.rate);
        }
        result.push_back(wire);
    }
    return result;
}

std::string quoted(std::string const& text) {
    return nlohmann::json(text).dump();
}

std::string label(Wire const& wire) {
    auto text = wire.links == 1 ? to_string(wire.rate) : fmt::format("{} links, {}", wire.links, to_string(wire.rate));
    if (wire.down > 0) text += fmt::format(", {} down", wire.down);
    return text;
}

char const* name_of(NodeKind kind) {
    switch (kind) {
        case NodeKind::endpoint:
            return "rank";
        case NodeKind::cpu:
            return "cpu";
        case NodeKind::nic:
            return "nic";
        case NodeKind::switch_chip:
            return "switch";
    }
    return "node";
}

// Nodes by tier, lowest first, in the order of their numbers.
std::vector<std::vector<NodeId>> rows_of(Fabric const& fabric) {
    std::map<std::uint8_t, std::vector<NodeId>> tiers;
    for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) tiers[fabric.nodes()[n].tier].push_back(NodeId{n});
    std::vector<std::vector<NodeId>> rows;
    for (auto& [tier, nodes] : tiers) rows.push_back(std::move(nodes));
    return rows;
}

void print_dot(Fabric const& fabric) {
    fmt::print("graph {} {{\n  rankdir=BT;\n  node [shape=box];\n", quoted(fabric.kind()));
    for (auto const& row : rows_of(fabric)) {
        fmt::print("  {{ rank=same;");
        for (auto const node : row)
            fmt::print(" {}{};", quoted(fabric.node_name(node)),
                       fabric.nodes()[node.index()].rank.valid() ? " [shape=ellipse]" : "");
        fmt::print(" }}\n");
    }
    for (auto const& wire : wires_of(fabric))
        fmt::print("  {} -- {} [label={}{}];\n", quoted(fabric.node_name(wire.a)), quoted(fabric.node_name(wire.b)),
                   quoted(label(wire)), wire.down > 0 ? ", color=red" : "");
    fmt::print("}}\n");
}

std::string escaped(std::string const& text) {
    std::string result;
    for (char const c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

// Tiers from the bottom up, each spread over the width; lines inside a tier are bent upwards.
void print_svg(Fabric const& fabric) {
    constexpr double row_height = 160, margin = 60, room = 44, narrowest = 8;
    constexpr std::array colours{"#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf"};
    auto const rows = rows_of(fabric);
    std::size_t widest = 1;
    for (auto const& row : rows) widest = std::max(widest, row.size());
    auto const width = std::clamp(static_cast<double>(widest) * room, 400.0, 6000.0);
    auto const height = row_height * static_cast<double>(rows.size());
    struct Point {
        double x, y;
    };
    std::vector<Point> at(fabric.nodes().size());
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t i = 0; i < rows[r].size(); ++i)
            at[rows[r][i].index()] = {
                margin + width * (static_cast<double>(i) + 0.5) / static_cast<double>(rows[r].size()),
                margin + height - row_height * (static_cast<double>(r) + 0.5)};
    fmt::print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
        "font-size=\"9\">\n<title>{}: {} ranks</title>\n",
        width + 2 * margin, height + 2 * margin, escaped(fabric.kind()), fabric.rank_count());
    std::map<std::string, std::size_t> planes;
    for (auto const& wire : wires_of(fabric)) {
        auto const& from = at[wire.a.index()];
        auto const& to = at[wire.b.index()];
        auto const plane = planes.emplace(fabric.link_classes()[wire.plane].plane, planes.size()).first->second;
        auto const bend =
            from.y == to.y ? from.y - std::min(60.0, 6 + std::abs(from.x - to.x) / 8) : (from.y + to.y) / 2;
        fmt::print(
            "<path d=\"M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
            "stroke-width=\"{}\"><title>{} - {}: {}, {}</title></path>\n",
            from.x, from.y, (from.x + to.x) / 2, bend, to.x, to.y,
            wire.down > 0 ? "#d62728" : colours[plane % colours.size()], wire.links > 1 ? 1.6 : 0.8,
            escaped(fabric.node_name(wire.a)), escaped(fabric.node_name(wire.b)), escaped(label(wire)),
            to_string(wire.latency));
    }
    for (auto const& row : rows) {
        auto const gap = width / static_cast<double>(row.size());
        for (auto const node : row) {
            auto const& here = at[node.index()];
            auto const name = escaped(fabric.node_name(node));
            bool const rank = fabric.nodes()[node.index()].rank.valid();
            auto const size = std::clamp(gap / 4, 1.0, narrowest);
            fmt::print(
                "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"#333\"><title>{}</title>"
                "</circle>\n",
                here.x, here.y, size, rank ? "#fff" : "#ffcc66", name);
            if (gap >= room / 2)
                fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", here.x,
                           here.y + size + 10, name);
        }
    }
    fmt::print("</svg>\n");
}

nlohmann::ordered_json figures_json(Fabric const& fabric) {
    auto const figures = fabric.figures();
    nlohmann::ordered_json json{{"ranks", figures.ranks},
                                {"switches", figures.switches},
                                {"other_nodes", figures.other_nodes},
                                {"links", figures.links},
                                {"diameter_hops", figures.diameter_hops},
                                {"bisection_bits_per_s", figures.bisection.bits_per_s()}};
    for (auto const& path : figures.paths)
        json["paths"].push_back({{"between", path.between},
                                 {"shortest_paths", path.shortest_paths},
                                 {"hops", path.hops},
                                 {"latency_ps", path.latency.ps()}});
    return json;
}

// One node, bundle or link a line, written as they come: a million of them need no more memory than one.
void print_json(Fabric const& fabric) {
    fmt::print("{{\"kind\": {},\n\"figures\": {},\n\"nodes\": [\n", quoted(fabric.kind()), figures_json(fabric).dump());
    auto const nodes = fabric.nodes();
    for (std::uint32_t n = 0; n < nodes.size(); ++n)
        fmt::print("{{\"id\": {}, \"name\": {}, \"kind\": \"{}\", \"tier\": {}{}}}{}\n", n,
                   quoted(fabric.node_name(NodeId{n})), name_of(nodes[n].kind), nodes[n].tier,
                   nodes[n].rank.valid() ? fmt::format(", \"rank\": {}", nodes[n].rank.value()) : "",
                   n + 1 < nodes.size() ? "," : "");
    fmt::print("],\n\"bundles\": [\n");
    auto const bundles = fabric.bundles();
    for (std::uint32_t b = 0; b < bundles.size(); ++b) {
        auto const& link_class = fabric.link_classes()[bundles[b].link_class];
        fmt::print("{{\"id\": {}, \"name\": {}, \"class\": {}, \"plane\": {}, \"domain\": {}, \"bits_per_s\": {}}}{}\n",
                   b, quoted(fabric.bundle_name(BundleId{b})), quoted(link_class.name), quoted(link_class.plane),
                   quoted(fabric.domain_name(bundles[b].domain)), bundles[b].capacity.bits_per_s(),
                   b + 1 < bundles.size() ? "," : "");
    }
    fmt::print("],\n\"links\": [\n");
    auto const links = fabric.links();
    for (std::uint32_t l = 0; l < links.size(); ++l)
        fmt::print(
            "{{\"id\": {}, \"name\": {}, \"from\": {}, \"to\": {}, \"bundle\": {}, \"bits_per_s\": {}, "
            "\"latency_ps\": {}}}{}\n",
            l, quoted(fabric.link_name(LinkId{l})), links[l].from.value(), links[l].to.value(), links[l].bundle.value(),
            links[l].rate.bits_per_s(), links[l].latency.ps(), l + 1 < links.size() ? "," : "");
    fmt::print("]}}\n");
}

}  // namespace

ExitCode topology_command(World const& world, TopologyArguments const& arguments) {
    auto const loaded = load_scenario(arguments.input.scenario, arguments.input.sets);
    auto const& spec = loaded.scenario.fabric();
    auto const fabric = make_fabric(spec, loaded.scenario.seed());
    std::vector<Degradation> present;
    for (auto& degradation : degradations_of(spec))
        if (degradation.always() || degradation.from == Time{}) present.push_back(degradation);
    fabric->degrade(present);
    if (!world.root()) return ExitCode::complete;
    switch (arguments.format) {
        case TopologyArguments::Format::dot:
            print_dot(*fabric);
            break;
        case TopologyArguments::Format::svg:
            print_svg(*fabric);
            break;
        case TopologyArguments::Format::json:
            print_json(*fabric);
            break;
    }
    for (auto const& note : fabric->notes()) fmt::print(stderr, "note: {}\n", note);
    return ExitCode::complete;
}

}  // namespace orrery
