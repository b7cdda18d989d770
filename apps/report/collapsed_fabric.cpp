// SPDX-License-Identifier: Apache-2.0
#include "apps/report/collapsed_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

constexpr std::size_t most_alone = 64;  // ranks, or switches of one tier, that are still drawn one by one
constexpr std::size_t most_groups = 128;

// What names have in common: "sn0.n03.d00" and "sn0.n03.d15" are "sn0.n03.d*".
std::string common_name(std::string const& a, std::string const& b) {
    auto const star = a.find('*');
    auto const head = a.substr(0, star), tail = star == std::string::npos ? a : a.substr(star + 1);
    auto const [x, y] = std::ranges::mismatch(head, b);
    auto const front = std::string(head.begin(), x);
    auto const [u, v] = std::mismatch(tail.rbegin(), tail.rend(), b.rbegin());
    auto const back = std::string(u.base(), tail.end());
    if (star == std::string::npos && a == b) return a;
    auto const room = b.size() - std::min(b.size(), front.size());
    return front + '*' + back.substr(back.size() - std::min(back.size(), room));
}

class Collapser {
  public:
    Collapser(Fabric const& fabric, CollapsedFabric& out) : fabric_(fabric), out_(out) {
        out_.vertex_of.assign(fabric.nodes().size(), none);
        for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) highest_ = std::max(highest_, fabric.nodes()[n].tier);
    }

    void ranks(std::vector<std::uint32_t> const& domain_of_block) {
        auto const per_block = fabric_.ranks_per_block();
        auto const blocks = domain_of_block.size();
        std::set<std::uint32_t> const domains(domain_of_block.begin(), domain_of_block.end());
        bool const by_domain = blocks > most_groups && domains.size() > 1 && domains.size() <= most_groups;
        auto const per_group = (blocks + most_groups - 1) / most_groups;
        std::map<std::uint32_t, std::uint32_t> made;
        for (std::uint32_t n = 0; n < fabric_.nodes().size(); ++n) {
            auto const& node = fabric_.nodes()[n];
            if (node.kind != NodeKind::endpoint) continue;
            auto const block = node.rank.value() / per_block;
            auto key = fabric_.rank_count() <= most_alone / 2 ? node.rank.value()
                       : by_domain                            ? domain_of_block[block]
                                                              : static_cast<std::uint32_t>(block / per_group);
            join(n, made, key);
        }
    }

    // Switches (and NICs) of a tier, by what they join of the tiers below.
    void tier(std::uint8_t tier) {
        std::map<std::uint32_t, std::set<std::uint32_t>> below;  // by node
        for (std::uint32_t n = 0; n < fabric_.nodes().size(); ++n)
            if (open(n) && fabric_.nodes()[n].tier == tier) below[n];
        bool const alone = below.size() <= most_alone;
        for (auto const& link : fabric_.links())
            if (auto const found = below.find(link.to.value()); found != below.end() && !alone)
                if (auto const vertex = out_.vertex_of[link.from.index()]; vertex != none) found->second.insert(vertex);
        std::map<std::set<std::uint32_t>, std::uint32_t> made;
        std::map<std::uint32_t, std::uint32_t> single;
        for (auto const& [node, joined] : below) {
            if (alone)
                join(node, single, node);
            else
                join(node, made, joined);
        }
    }

    std::uint8_t highest() const { return highest_; }

  private:
    static constexpr std::uint32_t none = 0xffffffff;

    bool open(std::uint32_t node) const { return out_.vertex_of[node] == none; }

    template <class Key>
    void join(std::uint32_t node, std::map<Key, std::uint32_t>& made, Key const& key) {
        auto const [found, fresh] = made.try_emplace(key, static_cast<std::uint32_t>(out_.vertices.size()));
        auto const name = fabric_.node_name(NodeId{node});
        auto const rank = fabric_.nodes()[node].rank;
        if (fresh) out_.vertices.push_back({name, fabric_.nodes()[node].tier, 0, rank, rank});
        auto& vertex = out_.vertices[found->second];
        vertex.name = common_name(vertex.name, name);
        vertex.last_rank = rank;
        ++vertex.nodes;
        out_.vertex_of[node] = found->second;
    }

    Fabric const& fabric_;
    CollapsedFabric& out_;
    std::uint8_t highest_ = 0;
};

}  // namespace

CollapsedFabric::CollapsedFabric(Fabric const& fabric, std::vector<std::uint32_t> const& domain_of_block) {
    Collapser collapse(fabric, *this);
    collapse.ranks(domain_of_block);
    for (unsigned tier = 0; tier <= collapse.highest(); ++tier) collapse.tier(static_cast<std::uint8_t>(tier));
}

}  // namespace orrery
