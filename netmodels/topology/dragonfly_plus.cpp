// SPDX-License-Identifier: Apache-2.0
// Dragonfly+ (Shpiner et al., HiPINEB 2017): groups are leaves and spines, and spines hold the links between groups.
#include "core/check.hpp"
#include "netmodels/topology/group_links.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

namespace orrery {
namespace {

enum Class : std::uint16_t { host_up, host_down, leaf_up, leaf_down, global_up, global_down };
enum class Routing : std::uint8_t { minimal, valiant };

class DragonflyPlusFabric final : public GraphFabric {
  public:
    DragonflyPlusFabric(scenario::DragonflyPlus const& spec, std::uint64_t seed)
        : GraphFabric(seed, Balancing::ecmp),
          hosts_(spec.hosts_per_leaf()),
          leaves_(spec.leaves()),
          spines_(spec.spines()),
          groups_(spec.groups()),
          global_(groups_, spines_, spec.links_per_pair(), spec.global_ports(), "fabric.dragonfly_plus"),
          routing_(spec.routing() == "valiant" ? Routing::valiant : Routing::minimal),
          host_rate_(Rate::from_bits_per_s(spec.host_rate())),
          local_rate_(Rate::from_bits_per_s(spec.local_rate())),
          global_rate_(Rate::from_bits_per_s(spec.global_rate())),
          wire_(Time::from_ps(spec.local_latency())),
          local_hop_(wire_ + Time::from_ps(spec.switch_latency())),
          global_hop_(Time::from_ps(spec.global_latency()) + Time::from_ps(spec.switch_latency())) {
        build();
    }

    std::string kind() const override { return "dragonfly_plus"; }
    FabricFigures figures() const override;
    std::string node_name(NodeId node) const override {
        auto id = node.value();
        NameWriter name;
        if (id < rank_count_) return name.text("h").number(id, digits_for(rank_count_)).take();
        id -= rank_count_;
        bool const is_leaf = id < groups_ * leaves_;
        if (!is_leaf) id -= groups_ * leaves_;
        auto const per_group = is_leaf ? leaves_ : spines_;
        return name.text("g")
            .number(id / per_group, digits_for(groups_))
            .text(is_leaf ? ".l" : ".s")
            .number(id % per_group, digits_for(per_group))
            .take();
    }
    std::uint32_t ranks_per_block() const override { return hosts_ * leaves_; }
    std::string rank_name(RankId rank) const override {
        auto const l = rank.value() / hosts_;
        return fmt::format("group {}, leaf {}, host {}", l / leaves_, l % leaves_, rank.value());
    }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;

  private:
    void build();
    NodeId leaf(std::uint32_t group, std::uint32_t number) const {
        return NodeId{rank_count_ + group * leaves_ + number};
    }
    NodeId spine(std::uint32_t group, std::uint32_t number) const {
        return NodeId{rank_count_ + groups_ * leaves_ + group * spines_ + number};
    }

    std::uint32_t hosts_, leaves_, spines_, groups_;
    GroupLinks global_;
    Routing routing_;
    Rate host_rate_, local_rate_, global_rate_;
    Time wire_, local_hop_, global_hop_;
};

void DragonflyPlusFabric::build() {
    auto const hosts = static_cast<std::uint64_t>(groups_) * leaves_ * hosts_;
    auto const switches = static_cast<std::uint64_t>(groups_) * (leaves_ + spines_);
    auto const links = 2 * (hosts + static_cast<std::uint64_t>(groups_) * leaves_ * spines_ +
                            static_cast<std::uint64_t>(groups_) * (groups_ - 1) / 2 * global_.per_pair());
    reserve(hosts + switches, links, links);
    rank_count_ = static_cast<std::uint32_t>(hosts);
    link_classes_ = {{"host.up", "fabric"},   {"host.down", "fabric"}, {"leaf.up", "fabric"},
                     {"leaf.down", "fabric"}, {"global.up", "fabric"}, {"global.down", "fabric"}};
    for (std::uint32_t h = 0; h < rank_count_; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
    for (std::uint32_t l = 0; l < groups_ * leaves_; ++l) add_node(NodeKind::switch_chip, 1);
    for (std::uint32_t s = 0; s < groups_ * spines_; ++s) add_node(NodeKind::switch_chip, 2);
    auto const domain = add_domain("dragonfly+");
    for (std::uint32_t h = 0; h < rank_count_; ++h)
        connect(NodeId{h}, NodeId{rank_count_ + h / hosts_},
                {.rate = host_rate_, .up = local_hop_, .down = wire_, .link_class = host_up}, domain);
    for (std::uint32_t g = 0; g < groups_; ++g)
        for (std::uint32_t l = 0; l < leaves_; ++l)
            for (std::uint32_t s = 0; s < spines_; ++s)
                connect(leaf(g, l), spine(g, s),
                        {.rate = local_rate_, .up = local_hop_, .down = local_hop_, .link_class = leaf_up}, domain);
    for (std::uint32_t g = 0; g < groups_; ++g)
        for (auto other = g + 1; other < groups_; ++other)
            for (auto const& [ends, lanes] : global_.joined(g, other))
                connect(spine(g, ends.from), spine(other, ends.to),
                        {.lanes = lanes,
                         .rate = global_rate_,
                         .up = global_hop_,
                         .down = global_hop_,
                         .link_class = global_up},
                        domain);
    finish();
}

// Over a third group a way comes down to one of its leaves, as a spine reaches the others of its group over leaves
// only.
bool DragonflyPlusFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto const from = source.value() / hosts_, to = target.value() / hosts_;
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        if (next == at) return;
        trail.add(edge(at, next));
        at = next;
    };
    auto const pick = [&](std::uint32_t ways) { return hashed(source, target, at.value(), ways); };
    auto group = from / leaves_;
    auto const goal = to / leaves_;
    go(leaf(group, from % leaves_));
    auto const cross = [&](std::uint32_t other) {
        auto const ends = global_.ends(group, other, pick(global_.per_pair()));
        go(spine(group, ends.from));
        go(spine(other, ends.to));
        group = other;
    };
    if (group != goal && routing_ == Routing::valiant && groups_ > 2) {
        cross(third_group(hashed(source, target, rank_count_, groups_ - 2), group, goal));
        auto const turn = leaf(group, pick(leaves_));
        go(turn);
    }
    if (group != goal)
        cross(goal);
    else if (from != to)
        go(spine(group, pick(spines_)));
    go(leaf(goal, to % leaves_));
    go(NodeId{target.value()});
    return true;
}

FabricFigures DragonflyPlusFabric::figures() const {
    auto f = counted();
    bool const far = groups_ > 1, near = leaves_ > 1;
    f.diameter_hops = far ? 5 : near ? 4 : rank_count_ > 1 ? 2 : 0;
    auto const half = static_cast<std::int64_t>(groups_ / 2);
    auto const leaf_hosts = saturating_times(host_rate_, hosts_), leaf_core = saturating_times(local_rate_, spines_);
    auto const out = saturating_times(global_rate_, std::int64_t{groups_ - 1} * global_.per_pair());
    f.bisection = far ? saturating_times(global_rate_, half * (groups_ - half) * global_.per_pair())
                      : saturating_times(std::min(leaf_hosts, leaf_core), leaves_ / 2);
    auto const inside = local_hop_ + wire_;
    if (hosts_ > 1) f.paths.push_back({"hosts of one leaf", 1, 2, inside});
    if (near) f.paths.push_back({"hosts of one group", spines_, 4, inside + local_hop_ * 2});
    if (far) f.paths.push_back({"hosts of two groups", global_.per_pair(), 5, inside + local_hop_ * 2 + global_hop_});
    f.tiers.push_back({"leaf to spines", leaf_hosts, leaf_core, ratio(leaf_hosts, leaf_core)});
    auto const hosts = saturating_times(leaf_hosts, leaves_);
    if (far) f.tiers.push_back({"group to all others", hosts, out, ratio(hosts, out)});
    return f;
}

FabricRegistration const registered{
    "dragonfly_plus", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        return std::make_unique<DragonflyPlusFabric>(spec.dragonfly_plus(), seed);
    }};

}  // namespace
}  // namespace orrery
