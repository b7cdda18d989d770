// SPDX-License-Identifier: Apache-2.0
// Servers with a scale-up network of their own, and a scale-out network of rails: GPU i of every server of a unit is
// under leaf i, so that equal numbers meet one switch away. NICs with two ports reach two leaves, under the same spines
// (dual ToR) or in two networks (dual plane), as in HPN (Qian et al., SIGCOMM 2024).
#include "core/check.hpp"
#include "netmodels/topology/graph_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>

namespace orrery {
namespace {

enum Class : std::uint16_t { scale_up, scale_up_down, nic_up, nic_down, leaf_up, leaf_down };

class RailFabric final : public GraphFabric {
  public:
    RailFabric(scenario::RailOptimised const& spec, std::uint64_t seed)
        : GraphFabric(seed, balancing_of(spec.load_balancing(), "fabric.rail_optimised.load_balancing")),
          servers_(spec.servers()),
          gpus_(spec.gpus_per_server()),
          chips_(spec.scale_up_switches()),
          per_unit_(spec.servers_per_unit()),
          units_(servers_ / std::max(1U, per_unit_)),
          spines_(spec.spines()),
          sides_(spec.attachment() == "single" ? 1 : 2),
          planes_(spec.attachment() == "dual_plane" ? 2 : 1),
          chip_rate_(divided(Rate::from_bits_per_s(spec.scale_up_rate()), chips_)),
          port_rate_(divided(Rate::from_bits_per_s(spec.nic_rate()), sides_)),
          spine_rate_(divided(saturating_times(port_rate_, per_unit_), spec.oversubscription() * spines_)),
          scale_up_latency_(Time::from_ps(spec.scale_up_latency())),
          wire_(Time::from_ps(spec.link_latency())),
          hop_(wire_ + Time::from_ps(spec.switch_latency())) {
        ORRERY_VALIDATE(per_unit_ > 0 && servers_ % per_unit_ == 0 && units_ > 0,
                        "fabric.rail_optimised.servers is {} (not a multiple of servers_per_unit {}); use {} or {}",
                        servers_, per_unit_, std::max(1U, units_) * per_unit_, (units_ + 1) * per_unit_);
        ORRERY_VALIDATE(std::min({chip_rate_, port_rate_, spine_rate_}) > Rate{},
                        "a leaf-spine link of fabric.rail_optimised would carry {}; raise nic_rate",
                        to_string(spine_rate_));
        build();
    }

    std::string kind() const override { return "rail_optimised"; }
    FabricFigures figures() const override;
    std::string bundle_name(BundleId bundle) const override;
    std::string node_name(NodeId node) const override;
    std::uint32_t ranks_per_block() const override { return gpus_; }
    std::string rank_name(RankId rank) const override {
        return fmt::format("server {}, GPU {}", rank.value() / gpus_, rank.value() % gpus_);
    }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;
    Rate sprayed(Trail const& trail, Rate narrowest) const override;
    void offer() override;

  private:
    // The leaves of one unit and rail: one, or one for each port of a NIC.
    struct LeafSet {
        std::uint32_t number;  // unit x rails + rail
        bool operator==(LeafSet const&) const = default;
    };
    void build();
    void add_scale_up();
    void join_to_spines(LeafSet leaves, DomainId domain);
    LeafSet above(std::uint32_t rank) const { return {rank / gpus_ / per_unit_ * gpus_ + rank % gpus_}; }
    NodeId chip(std::uint32_t server, std::uint32_t number) const {
        return NodeId{rank_count_ + server * chips_ + number};
    }
    NodeId leaf(LeafSet set, std::uint32_t side) const {
        return NodeId{rank_count_ + servers_ * chips_ + set.number * sides_ + side};
    }
    NodeId spine(std::uint32_t plane, std::uint32_t number) const {
        return NodeId{rank_count_ + servers_ * chips_ + units_ * gpus_ * sides_ + plane * spines_ + number};
    }
    std::uint32_t plane_of(std::uint32_t side) const { return planes_ == 1 ? 0 : side; }
    Rate carried(NodeId from, NodeId to) const { return links_[edge(from, to).first].rate; }
    Rate across(std::uint32_t plane, std::uint32_t source, std::uint32_t target) const;
    std::string leaves_name(std::uint32_t number) const;

    std::uint32_t servers_, gpus_, chips_, per_unit_, units_, spines_, sides_, planes_;
    Rate chip_rate_, port_rate_, spine_rate_;
    Time scale_up_latency_, wire_, hop_;
};

void RailFabric::build() {
    std::uint64_t const ranks = std::uint64_t{servers_} * gpus_, leaves = std::uint64_t{units_} * gpus_ * sides_;
    auto const links = 2 * (ranks * (chips_ + sides_) + leaves * spines_);
    reserve(ranks + std::uint64_t{servers_} * chips_ + leaves + std::uint64_t{spines_} * planes_, links,
            balancing() == Balancing::ecmp ? links : 4 * ranks + 2 * leaves);
    rank_count_ = static_cast<std::uint32_t>(ranks);
    link_classes_ = {{"scale-up.up", "scale-up"}, {"scale-up.down", "scale-up"}, {"nic.up", "scale-out"},
                     {"nic.down", "scale-out"},   {"leaf.up", "scale-out"},      {"leaf.down", "scale-out"}};
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_node(NodeKind::endpoint, 0, RankId{r});
    for (std::uint32_t c = 0; c < servers_ * chips_ + leaves; ++c) add_node(NodeKind::switch_chip, 1);
    for (std::uint32_t s = 0; s < spines_ * planes_; ++s) add_node(NodeKind::switch_chip, 2);
    add_scale_up();
    auto const domain = add_domain("scale-out");
    for (std::uint32_t r = 0; r < rank_count_; ++r) {
        std::vector<NodeId> ports;
        for (std::uint32_t side = 0; side < sides_; ++side) ports.push_back(leaf(above(r), side));
        connect_all(NodeId{r}, ports, {.rate = port_rate_, .up = hop_, .down = wire_, .link_class = nic_up}, domain);
    }
    for (std::uint32_t set = 0; set < units_ * gpus_; ++set) join_to_spines({set}, domain);
    finish();
}

void RailFabric::add_scale_up() {
    for (std::uint32_t s = 0; s < servers_; ++s) {
        auto const domain = add_domain(NameWriter{}.text("s").number(s, digits_for(servers_)).text(".scale-up").take());
        std::vector<NodeId> chips;
        for (std::uint32_t c = 0; c < chips_; ++c) chips.push_back(chip(s, c));
        for (std::uint32_t g = 0; g < gpus_; ++g)
            connect_all(NodeId{s * gpus_ + g}, chips,
                        {.rate = chip_rate_,
                         .up = scale_up_latency_,
                         .down = scale_up_latency_,
                         .link_class = scale_up,
                         .balancing = Balancing::spray},
                        domain);
    }
}

// All leaves of a set share one bundle each way when sprayed: which of them a packet is at was decided by its port.
void RailFabric::join_to_spines(LeafSet leaves, DomainId domain) {
    std::vector<Ends> pairs;
    for (std::uint32_t side = 0; side < sides_; ++side)
        for (std::uint32_t s = 0; s < spines_; ++s) pairs.push_back({leaf(leaves, side), spine(plane_of(side), s)});
    connect(pairs, {.rate = spine_rate_, .up = hop_, .down = hop_, .link_class = leaf_up}, domain);
}

bool RailFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto const pick = [&](NodeId place, std::uint32_t ways) {
        return balancing() == Balancing::spray ? 0 : hashed(source, target, place.value(), ways);
    };
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        trail.add(edge(at, next));
        at = next;
    };
    auto const server = source.value() / gpus_;
    if (server == target.value() / gpus_) {
        go(chip(server, 0));
    } else {
        auto const from = above(source.value()), to = above(target.value());
        auto const side = pick(at, sides_);
        go(leaf(from, side));
        if (from != to) {
            go(spine(plane_of(side), pick(at, spines_)));
            go(leaf(to, planes_ == 1 ? pick(at, sides_) : side));
        }
    }
    go(NodeId{target.value()});
    return true;
}

// What one plane carries between two ranks: no more than their ports into it and, over spines, what each is given and
// can give on.
Rate RailFabric::across(std::uint32_t plane, std::uint32_t source, std::uint32_t target) const {
    auto const from = above(source), to = above(target);
    Rate up, down, shared, over;
    for (std::uint32_t side = 0; side < sides_; ++side) {
        if (plane_of(side) != plane) continue;
        auto const rises = carried(NodeId{source}, leaf(from, side)), falls = carried(leaf(to, side), NodeId{target});
        up = saturating_add(up, rises);
        down = saturating_add(down, falls);
        shared = saturating_add(shared, std::min(rises, falls));
    }
    if (from == to) return shared;
    for (std::uint32_t s = 0; s < spines_; ++s) {
        Rate in, out;
        for (std::uint32_t side = 0; side < sides_; ++side) {
            if (plane_of(side) != plane) continue;
            if (carried(NodeId{source}, leaf(from, side)) > Rate{})
                in = saturating_add(in, carried(leaf(from, side), spine(plane, s)));
            if (carried(leaf(to, side), NodeId{target}) > Rate{})
                out = saturating_add(out, carried(spine(plane, s), leaf(to, side)));
        }
        over = saturating_add(over, std::min(in, out));
    }
    return std::min({up, down, over});
}

Rate RailFabric::sprayed(Trail const& trail, Rate narrowest) const {
    auto const edges = trail.edges();
    auto const source = links_[edges.front().first].from.value(), target = edges.back().to;
    auto const server = source / gpus_;
    Rate sum;
    if (server == target / gpus_) {
        for (std::uint32_t c = 0; c < chips_; ++c)
            sum = saturating_add(
                sum, std::min(carried(NodeId{source}, chip(server, c)), carried(chip(server, c), NodeId{target})));
    } else {
        if (balancing() == Balancing::ecmp) return narrowest;
        for (std::uint32_t plane = 0; plane < planes_; ++plane)
            sum = saturating_add(sum, across(plane, source, target));
    }
    return std::min(narrowest, sum);
}

void RailFabric::offer() {
    std::vector<PortSums> sets(std::size_t{units_} * gpus_);
    PortSums all;
    for (auto const& bundle : bundles_) {
        if (bundle.link_class != nic_up && bundle.link_class != nic_down) continue;
        auto const& link = links_[bundle.first_member];
        bool const up = bundle.link_class == nic_up;
        auto const rank = (up ? link.from : link.to).value();
        for (auto* sums : {&sets[above(rank).number], &all})
            sums->add(up ? bundle.capacity : Rate{}, up ? Rate{} : bundle.capacity);
    }
    auto const first_leaf = leaf({0}, 0).value();
    for (auto& bundle : bundles_) {
        if (bundle.link_class != leaf_up && bundle.link_class != leaf_down) continue;
        auto const& link = links_[bundle.first_member];
        auto const& set = sets[(std::min(link.from, link.to).value() - first_leaf) / sides_];
        bundle.offered = bundle.link_class == leaf_up ? set.offered_up(all) : set.offered_down(all);
    }
}

std::string RailFabric::leaves_name(std::uint32_t number) const {
    NameWriter name;
    if (units_ > 1) name.text("u").number(number / gpus_, digits_for(units_)).text(".");
    return name.text("rail").number(number % gpus_, digits_for(gpus_)).take();
}

std::string RailFabric::node_name(NodeId node) const {
    auto id = node.value();
    NameWriter name;
    auto const server = [&](std::uint32_t number) -> NameWriter& {
        return name.text("s").number(number, digits_for(servers_));
    };
    if (id < rank_count_) return server(id / gpus_).text(".g").number(id % gpus_, digits_for(gpus_)).take();
    id -= rank_count_;
    if (id < servers_ * chips_) return server(id / chips_).text(".x").number(id % chips_, digits_for(chips_)).take();
    id -= servers_ * chips_;
    if (id < units_ * gpus_ * sides_) {
        name.text(leaves_name(id / sides_));
        return sides_ == 1 ? name.take() : name.text(".").number(id % sides_, 1).take();
    }
    id -= units_ * gpus_ * sides_;
    if (planes_ > 1) name.text("plane").number(id / spines_, 1).text(".");
    return name.text("spine").number(id % spines_, digits_for(spines_)).take();
}

std::string RailFabric::bundle_name(BundleId id) const {
    auto const& bundle = bundles_[id.index()];
    if (bundle.member_count == 1) return GraphFabric::bundle_name(id);
    auto const& link = links_[bundle.first_member];
    auto const up = bundle.link_class % 2 == 0;
    auto const low = up ? link.from : link.to, high = up ? link.to : link.from;
    auto const* const direction = up ? "up" : "down";
    if (bundle.link_class <= scale_up_down)
        return fmt::format("{}-{}*.{}", node_name(low),
                           NameWriter{}.text("s").number(low.value() / gpus_, digits_for(servers_)).text(".x").take(),
                           direction);
    auto const first_leaf = leaf({0}, 0).value();
    if (bundle.link_class <= nic_down)
        return fmt::format("{}-{}.*.{}", node_name(low), leaves_name((high.value() - first_leaf) / sides_), direction);
    return fmt::format("{}{}-*spine*.{}", leaves_name((low.value() - first_leaf) / sides_), sides_ == 1 ? "" : ".*",
                       direction);
}

FabricFigures RailFabric::figures() const {
    auto f = counted();
    auto const leaf_hosts = saturating_times(port_rate_, std::int64_t{per_unit_} * sides_);
    auto const leaf_core = saturating_times(spine_rate_, std::int64_t{spines_} * sides_);
    bool const beyond_rail = servers_ > 1 && (gpus_ > 1 || units_ > 1);
    f.diameter_hops = beyond_rail ? 4 : rank_count_ > 1 ? 2 : 0;
    f.bisection = units_ > 1 ? saturating_times(std::min(leaf_hosts, leaf_core), std::int64_t{units_ / 2} * gpus_)
                             : saturating_times(port_rate_, std::int64_t{servers_ / 2} * gpus_ * sides_);
    auto const near = hop_ + wire_;
    if (gpus_ > 1) f.paths.push_back({"GPUs of one server", chips_, 2, scale_up_latency_ * 2});
    if (per_unit_ > 1) f.paths.push_back({"one rail of a unit", sides_, 2, near});
    if (beyond_rail)
        f.paths.push_back({"beyond a rail or a unit", std::int64_t{sides_} * spines_ * (planes_ == 1 ? sides_ : 1), 4,
                           near + hop_ * 2});
    f.tiers = {{"rail of a unit to spines", leaf_hosts, leaf_core, ratio(leaf_hosts, leaf_core)}};
    return f;
}

FabricRegistration const registered{
    "rail_optimised", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        return std::make_unique<RailFabric>(spec.rail_optimised(), seed);
    }};

}  // namespace
}  // namespace orrery
