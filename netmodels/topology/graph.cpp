// SPDX-License-Identifier: Apache-2.0
// Kind graph: nodes, switches and links as a scenario lists them.
#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"
#include "netmodels/topology/registry.hpp"
#include "netmodels/topology/stored_graph.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>
#include <charconv>
#include <fnmatch.h>
#include <optional>
#include <unordered_map>

namespace orrery {
namespace {

constexpr std::size_t most_links = std::size_t{1} << 26;

// The nodes that a text names: "h0, leaf*, h8..15".
class NodeNames {
  public:
    explicit NodeNames(std::vector<std::string> const& names) : names_(&names) {
        for (std::uint32_t n = 0; n < names.size(); ++n) {
            bool const fresh = number_.emplace(names[n], n).second;
            ORRERY_VALIDATE(fresh, "fabric.graph: two nodes are called '{}'; give one another name", names[n]);
        }
    }

    std::vector<std::uint32_t> named(std::string_view text, std::string const& where) const {
        std::vector<std::uint32_t> result;
        while (!text.empty()) {
            auto const comma = std::min(text.find(','), text.size());
            auto item = text.substr(0, comma);
            text.remove_prefix(std::min(comma + 1, text.size()));
            while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
            while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
            add(std::string(item), where, result);
        }
        ORRERY_VALIDATE(!result.empty(), "{} names no node; write h0 or leaf*", where);
        return result;
    }

  private:
    void add(std::string const& item, std::string const& where, std::vector<std::uint32_t>& result) const {
        auto const before = result.size();
        if (auto const found = number_.find(item); found != number_.end()) {
            result.push_back(found->second);
        } else if (auto const range = range_of(item)) {
            for (auto i = range->first; i <= range->last; ++i) {
                auto const one = number_.find(range->stem + std::to_string(i));
                if (one == number_.end()) refuse(range->stem + std::to_string(i), where);
                result.push_back(one->second);
            }
        } else {
            for (std::uint32_t n = 0; n < names_->size(); ++n)
                if (fnmatch(item.c_str(), (*names_)[n].c_str(), 0) == 0) result.push_back(n);
        }
        if (result.size() == before) refuse(item, where);
    }

    struct Range {
        std::string stem;
        std::uint32_t first, last;
    };
    // "h8..15" is h8 to h15.
    static std::optional<Range> range_of(std::string const& item) {
        auto const dots = item.find("..");
        if (dots == std::string::npos) return std::nullopt;
        auto digits = dots;
        while (digits > 0 && item[digits - 1] >= '0' && item[digits - 1] <= '9') --digits;
        Range range{item.substr(0, digits), 0, 0};
        auto const whole = [&](std::size_t begin, std::size_t end, std::uint32_t& value) {
            auto const [stop, error] = std::from_chars(item.data() + begin, item.data() + end, value);
            return error == std::errc{} && stop == item.data() + end;
        };
        if (!whole(digits, dots, range.first) || !whole(dots + 2, item.size(), range.last)) return std::nullopt;
        return range.first <= range.last ? std::optional(range) : std::nullopt;
    }

    [[noreturn]] void refuse(std::string const& item, std::string const& where) const {
        NearestNames nearest(item);
        for (auto const& name : *names_) nearest.offer(name);
        throw InputError(fmt::format("{} = '{}' (no node is called so); nearest: {}", where, item, nearest.text()));
    }

    std::vector<std::string> const* names_;
    std::unordered_map<std::string, std::uint32_t> number_;
};

StoredGraph graph_of(scenario::GraphSpec const& spec) {
    StoredGraph graph;
    graph.ranks = spec.ranks();
    for (std::uint32_t r = 0; r < graph.ranks; ++r) graph.names.push_back(fmt::format("h{}", r));
    for (auto const& group : spec.switches())
        for (std::uint32_t s = 0; s < group.count(); ++s)
            graph.names.push_back(group.count() == 1 ? group.name() : group.name() + std::to_string(s));
    NodeNames const names(graph.names);
    graph.planes.clear();
    for (int i = 0; i < spec.links_size(); ++i) {
        auto const& link = spec.links(i);
        auto const where = fmt::format("fabric.graph.links[{}]", i);
        auto const a = names.named(link.a(), where + ".a"), b = names.named(link.b(), where + ".b");
        auto const plane = std::find(graph.planes.begin(), graph.planes.end(), link.plane());
        StoredGraph::Line line{.lanes = link.lanes(),
                               .rate = Rate::from_bits_per_s(link.rate()),
                               .up = Time::from_ps(link.latency()),
                               .down = Time::from_ps(link.latency()),
                               .plane = static_cast<std::uint32_t>(plane - graph.planes.begin()),
                               .where = where};
        if (plane == graph.planes.end()) graph.planes.push_back(link.plane());
        auto const add = [&](std::uint32_t from, std::uint32_t to) {
            // A node that stands on both sides is not meant to be linked to itself.
            if (from == to) return;
            line.a = from, line.b = to;
            graph.lines.push_back(line);
        };
        ORRERY_VALIDATE(a.size() * b.size() <= most_links, "{} is more than {} links; use narrower names", where,
                        most_links);
        if (link.pairing() == "zip") {
            for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) add(a[k % a.size()], b[k % b.size()]);
        } else if (a == b) {
            for (std::size_t j = 0; j < a.size(); ++j)
                for (std::size_t k = j + 1; k < a.size(); ++k) add(a[j], a[k]);
        } else {
            for (auto const from : a)
                for (auto const to : b) add(from, to);
        }
    }
    if (graph.planes.empty()) graph.planes.emplace_back("fabric");
    return graph;
}

FabricRegistration const registered{
    "graph", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        auto const& given = spec.graph();
        return make_graph_fabric(graph_of(given),
                                 {.kind = "graph",
                                  .seed = seed,
                                  .balancing = balancing_of(given.load_balancing(), "fabric.graph.load_balancing"),
                                  .injection_latency = Time::from_ps(given.injection_latency())});
    }};

}  // namespace
}  // namespace orrery
