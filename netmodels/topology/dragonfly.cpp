// SPDX-License-Identifier: Apache-2.0
// Dragonfly (Kim et al., ISCA 2008): groups of routers joined all to all, and groups joined all to all.
#include "core/check.hpp"
#include "netmodels/topology/group_links.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

namespace orrery {
namespace {

enum Class : std::uint16_t { host_up, host_down, local_up, local_down, global_up, global_down };
enum class Routing : std::uint8_t { minimal, valiant };

class DragonflyFabric final : public GraphFabric {
  public:
    DragonflyFabric(scenario::Dragonfly const& spec, std::uint64_t seed)
        : GraphFabric(seed, Balancing::ecmp),
          hosts_(spec.hosts_per_router()),
          routers_(spec.routers_per_group()),
          groups_(spec.groups()),
          global_(groups_, routers_, spec.links_per_pair(), spec.global_ports(), "fabric.dragonfly"),
          routing_(spec.routing() == "valiant" ? Routing::valiant : Routing::minimal),
          host_rate_(Rate::from_bits_per_s(spec.host_rate())),
          local_rate_(Rate::from_bits_per_s(spec.local_rate())),
          global_rate_(Rate::from_bits_per_s(spec.global_rate())),
          wire_(Time::from_ps(spec.local_latency())),
          local_hop_(wire_ + Time::from_ps(spec.switch_latency())),
          global_hop_(Time::from_ps(spec.global_latency()) + Time::from_ps(spec.switch_latency())) {
        build();
    }

    std::string kind() const override { return "dragonfly"; }
    FabricFigures figures() const override;
    std::string node_name(NodeId node) const override {
        auto const id = node.value();
        NameWriter name;
        if (id < rank_count_) return name.text("h").number(id, digits_for(rank_count_)).take();
        auto const r = id - rank_count_;
        return name.text("g")
            .number(r / routers_, digits_for(groups_))
            .text(".r")
            .number(r % routers_, digits_for(routers_))
            .take();
    }
    std::uint32_t ranks_per_block() const override { return hosts_ * routers_; }
    std::string rank_name(RankId rank) const override {
        auto const router = rank.value() / hosts_;
        return fmt::format("group {}, router {}, host {}", router / routers_, router % routers_, rank.value());
    }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;

  private:
    void build();
    NodeId router(std::uint32_t group, std::uint32_t number) const {
        return NodeId{rank_count_ + group * routers_ + number};
    }
    // Of the links to another group the k-th of those nearest to both routers; `k` is drawn from their number.
    template <class Pick>
    GroupLinks::Ends nearest_link(std::uint32_t group, std::uint32_t from, std::uint32_t other, std::int64_t to,
                                  Pick const& pick) const;

    std::uint32_t hosts_, routers_, groups_;
    GroupLinks global_;
    Routing routing_;
    Rate host_rate_, local_rate_, global_rate_;
    Time wire_, local_hop_, global_hop_;
};

void DragonflyFabric::build() {
    auto const routers = static_cast<std::uint64_t>(groups_) * routers_;
    auto const links = 2 * (routers * hosts_ + routers * (routers_ - 1) / 2 +
                            static_cast<std::uint64_t>(groups_) * (groups_ - 1) / 2 * global_.per_pair());
    reserve(routers * (hosts_ + 1), links, links);
    rank_count_ = static_cast<std::uint32_t>(routers * hosts_);
    link_classes_ = {{"host.up", "fabric"},    {"host.down", "fabric"}, {"local.up", "fabric"},
                     {"local.down", "fabric"}, {"global.up", "fabric"}, {"global.down", "fabric"}};
    for (std::uint32_t h = 0; h < rank_count_; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
    for (std::uint32_t r = 0; r < routers; ++r) add_node(NodeKind::switch_chip, 1);
    auto const domain = add_domain("dragonfly");
    for (std::uint32_t h = 0; h < rank_count_; ++h)
        connect(NodeId{h}, NodeId{rank_count_ + h / hosts_},
                {.rate = host_rate_, .up = local_hop_, .down = wire_, .link_class = host_up}, domain);
    for (std::uint32_t g = 0; g < groups_; ++g)
        for (std::uint32_t a = 0; a < routers_; ++a)
            for (auto b = a + 1; b < routers_; ++b)
                connect(router(g, a), router(g, b),
                        {.rate = local_rate_, .up = local_hop_, .down = local_hop_, .link_class = local_up}, domain);
    for (std::uint32_t g = 0; g < groups_; ++g)
        for (auto other = g + 1; other < groups_; ++other)
            for (auto const& [ends, lanes] : global_.joined(g, other))
                connect(router(g, ends.from), router(other, ends.to),
                        {.lanes = lanes,
                         .rate = global_rate_,
                         .up = global_hop_,
                         .down = global_hop_,
                         .link_class = global_up},
                        domain);
    finish();
}

template <class Pick>
GroupLinks::Ends DragonflyFabric::nearest_link(std::uint32_t group, std::uint32_t from, std::uint32_t other,
                                               std::int64_t to, Pick const& pick) const {
    auto const detour = [&](GroupLinks::Ends const& e) { return (e.from == from ? 0 : 1) + (e.to == to ? 0 : 1); };
    auto least = 3;
    std::uint32_t count = 0;
    for (std::uint32_t l = 0; l < global_.per_pair(); ++l) {
        auto const d = detour(global_.ends(group, other, l));
        if (d < least) least = d, count = 0;
        count += d == least ? 1 : 0;
    }
    auto left = count > 1 ? pick(count) : 0;
    for (std::uint32_t l = 0;; ++l)
        if (auto const ends = global_.ends(group, other, l); detour(ends) == least && left-- == 0) return ends;
}

bool DragonflyFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto const from = source.value() / hosts_, to = target.value() / hosts_;
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        if (next == at) return;
        trail.add(edge(at, next));
        at = next;
    };
    auto group = from / routers_;
    auto const goal = to / routers_;
    go(router(group, from % routers_));
    // To another group; `wanted` is the router to go to there, -1 for any.
    auto const cross = [&](std::uint32_t other, std::int64_t wanted) {
        auto const here = (at.value() - rank_count_) % routers_;
        auto const ends = nearest_link(group, here, other, wanted,
                                       [&](std::uint32_t count) { return hashed(source, target, at.value(), count); });
        go(router(group, ends.from));
        go(router(other, ends.to));
        group = other;
    };
    if (group != goal && routing_ == Routing::valiant && groups_ > 2)
        cross(third_group(hashed(source, target, rank_count_, groups_ - 2), group, goal), -1);
    if (group != goal) cross(goal, to % routers_);
    go(router(goal, to % routers_));
    go(NodeId{target.value()});
    return true;
}

FabricFigures DragonflyFabric::figures() const {
    auto f = counted();
    bool const far = groups_ > 1, near = routers_ > 1;
    // Where routers outnumber the links of a pair, the farthest are a link away from both ends of theirs.
    auto const ends = near && global_.per_pair() < routers_ ? 2 : near ? 1 : 0;
    f.diameter_hops = rank_count_ > 1 ? 2 + (far ? 1 + ends : near ? 1 : 0) : 0;
    auto const half = static_cast<std::int64_t>(groups_ / 2);
    f.bisection = far ? saturating_times(global_rate_, half * (groups_ - half) * global_.per_pair())
                      : saturating_times(local_rate_, std::int64_t{routers_ / 2} * (routers_ - routers_ / 2));
    auto const inside = local_hop_ + wire_;
    if (hosts_ > 1) f.paths.push_back({"hosts of one router", 1, 2, inside});
    if (near) f.paths.push_back({"hosts of one group", 1, 3, inside + local_hop_});
    if (far)
        f.paths.push_back({"hosts of two groups, at most", global_.per_pair(), f.diameter_hops,
                           inside + global_hop_ + local_hop_ * ends});
    auto const hosts = saturating_times(host_rate_, std::int64_t{hosts_} * routers_);
    auto const out = saturating_times(global_rate_, std::int64_t{groups_ - 1} * global_.per_pair());
    if (far) f.tiers.push_back({"group to all others", hosts, out, ratio(hosts, out)});
    return f;
}

FabricRegistration const registered{
    "dragonfly", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        return std::make_unique<DragonflyFabric>(spec.dragonfly(), seed);
    }};

}  // namespace
}  // namespace orrery
