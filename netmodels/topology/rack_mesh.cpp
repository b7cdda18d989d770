// SPDX-License-Identifier: Apache-2.0
// Full meshes in levels: NPUs of a rack along each line of a grid, racks of a pod likewise over switches of each rack,
// and pods over a Clos (UB-Mesh, arXiv:2503.20377). An Ascend 950 super-pod is racks under such a Clos.
#include "core/check.hpp"
#include "netmodels/topology/graph_fabric.hpp"
#include "netmodels/topology/grid.hpp"
#include "netmodels/topology/product_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>

namespace orrery {
namespace {

enum Class : std::uint16_t {
    npu_up,
    npu_down,
    mesh_up,
    mesh_down,
    uplink_up,
    uplink_down,
    rack_up,
    rack_down,
    clos_up,
    clos_down
};

struct RackMeshShape {
    std::string kind;
    Grid rack, pod;
    std::uint32_t pods = 1, planes = 1, spines = 1;
    double oversubscription = 1;
    Rate npu_link_rate, uplink_rate, rack_link_rate;
    Time npu_link, uplink, rack_link, injection;
};

class RackMeshFabric final : public GraphFabric {
  public:
    RackMeshFabric(RackMeshShape shape, std::uint64_t seed);

    std::string kind() const override { return s_.kind; }
    FabricFigures figures() const override;
    std::string bundle_name(BundleId bundle) const override;
    std::string node_name(NodeId node) const override;
    std::uint32_t ranks_per_block() const override { return npus_; }
    std::string rank_name(RankId rank) const override {
        auto const rack = rank.value() / npus_;
        return fmt::format("pod {}, rack {}, NPU {}", rack / racks_per_pod_, rack % racks_per_pod_,
                           rank.value() % npus_);
    }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;
    Rate sprayed(Trail const& trail, Rate narrowest) const override;
    void offer() override;

  private:
    void add_rack(std::uint32_t rack, DomainId domain);
    void add_pod(std::uint32_t pod, DomainId domain);
    NodeId router(std::uint32_t rank) const { return NodeId{rank_count_ + rank}; }
    NodeId rack_switch(std::uint32_t rack, std::uint32_t plane) const {
        return NodeId{2 * rank_count_ + rack * s_.planes + plane};
    }
    NodeId spine(std::uint32_t plane, std::uint32_t number) const {
        return NodeId{2 * rank_count_ + racks_ * s_.planes + plane * s_.spines + number};
    }
    Rate carried(NodeId from, NodeId to) const { return links_[edge(from, to).first].rate; }
    std::string rack_name(std::uint32_t rack) const;
    Rate uplinks_of_rack() const { return saturating_times(s_.uplink_rate, std::int64_t{npus_} * s_.planes); }

    RackMeshShape s_;
    std::uint32_t npus_, racks_per_pod_, racks_;
    Rate clos_rate_;  // of one link of a rack into the Clos
};

RackMeshFabric::RackMeshFabric(RackMeshShape shape, std::uint64_t seed)
    : GraphFabric(seed, Balancing::spray),
      s_(std::move(shape)),
      npus_(static_cast<std::uint32_t>(s_.rack.points())),
      racks_per_pod_(static_cast<std::uint32_t>(s_.pod.points())),
      racks_(racks_per_pod_ * s_.pods),
      clos_rate_(divided(saturating_times(s_.uplink_rate, npus_), s_.oversubscription * s_.spines)) {
    auto const ranks = s_.rack.points() * s_.pod.points() * s_.pods;
    ORRERY_VALIDATE(ranks <= 1U << 24, "fabric.{} has {} ranks (at most {} can be held); use fewer", s_.kind, ranks,
                    1U << 24);
    ORRERY_VALIDATE(clos_rate_ > Rate{}, "a link of fabric.{} into the Clos would carry nothing; use fewer spines",
                    s_.kind);
    rank_count_ = static_cast<std::uint32_t>(ranks);
    link_classes_ = {{"npu.up", "ub"},    {"npu.down", "ub"},    {"mesh.up", "ub"}, {"mesh.down", "ub"},
                     {"uplink.up", "ub"}, {"uplink.down", "ub"}, {"rack.up", "ub"}, {"rack.down", "ub"},
                     {"clos.up", "ub"},   {"clos.down", "ub"}};
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_node(NodeKind::endpoint, 0, RankId{r});
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_node(NodeKind::switch_chip, 1);
    bool const lone = racks_ == 1;
    for (std::uint32_t x = 0; !lone && x < racks_ * s_.planes; ++x) add_node(NodeKind::switch_chip, 2);
    for (std::uint32_t s = 0; s_.pods > 1 && s < s_.planes * s_.spines; ++s) add_node(NodeKind::switch_chip, 3);
    auto const domain = add_domain("ub");
    for (std::uint32_t rack = 0; rack < racks_; ++rack) add_rack(rack, domain);
    for (std::uint32_t pod = 0; pod < s_.pods; ++pod) add_pod(pod, domain);
    finish();
}

void RackMeshFabric::add_rack(std::uint32_t rack, DomainId domain) {
    auto const first = rack * npus_;
    bool const lone = racks_ == 1;
    std::int64_t neighbours = 0;
    for (std::uint32_t d = 0; d < s_.rack.dimensions(); ++d) neighbours += s_.rack.size(d) - 1;
    auto const ports = saturating_add(saturating_times(s_.npu_link_rate, neighbours),
                                      lone ? Rate{} : saturating_times(s_.uplink_rate, s_.planes));
    std::vector<NodeId> switches;
    for (std::uint32_t p = 0; !lone && p < s_.planes; ++p) switches.push_back(rack_switch(rack, p));
    for (std::uint32_t n = 0; n < npus_; ++n) {
        connect(NodeId{first + n}, router(first + n),
                {.rate = ports, .up = s_.injection, .down = {}, .link_class = npu_up}, domain);
        if (!lone)
            connect_all(router(first + n), switches,
                        {.rate = s_.uplink_rate, .up = s_.uplink, .down = s_.uplink, .link_class = uplink_up}, domain);
    }
    s_.rack.for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        connect(router(first + a), router(first + b),
                {.rate = s_.npu_link_rate, .up = s_.npu_link, .down = s_.npu_link, .link_class = mesh_up}, domain);
    });
}

void RackMeshFabric::add_pod(std::uint32_t pod, DomainId domain) {
    auto const first = pod * racks_per_pod_;
    std::vector<Ends> pairs;
    s_.pod.for_each_pair([&](std::uint32_t a, std::uint32_t b) {
        pairs.clear();
        for (std::uint32_t p = 0; p < s_.planes; ++p)
            pairs.push_back({rack_switch(first + a, p), rack_switch(first + b, p)});
        connect(pairs, {.rate = s_.rack_link_rate, .up = s_.rack_link, .down = s_.rack_link, .link_class = rack_up},
                domain);
    });
    for (std::uint32_t rack = first; s_.pods > 1 && rack < first + racks_per_pod_; ++rack) {
        pairs.clear();
        for (std::uint32_t p = 0; p < s_.planes; ++p)
            for (std::uint32_t s = 0; s < s_.spines; ++s) pairs.push_back({rack_switch(rack, p), spine(p, s)});
        connect(pairs, {.rate = clos_rate_, .up = s_.rack_link, .down = s_.rack_link, .link_class = clos_up}, domain);
    }
}

// The planes of a rack are loaded alike: the first stands for all.
bool RackMeshFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        trail.add(edge(at, next));
        at = next;
    };
    auto const from = source.value() / npus_, to = target.value() / npus_;
    go(router(source.value()));
    if (from == to) {
        s_.rack.walk(source.value() % npus_, target.value() % npus_,
                     [&](std::uint32_t npu) { go(router(from * npus_ + npu)); });
    } else {
        go(rack_switch(from, 0));
        auto const pod = from / racks_per_pod_;
        if (pod == to / racks_per_pod_) {
            s_.pod.walk(from % racks_per_pod_, to % racks_per_pod_,
                        [&](std::uint32_t rack) { go(rack_switch(pod * racks_per_pod_ + rack, 0)); });
        } else {
            go(spine(0, 0));
            go(rack_switch(to, 0));
        }
        go(router(target.value()));
    }
    go(NodeId{target.value()});
    return true;
}

// The sum over planes of the slowest step of each; into the Clos and out of it, the sum over its switches.
Rate RackMeshFabric::sprayed(Trail const& trail, Rate narrowest) const {
    auto const source = links_[trail.edges().front().first].from.value(), target = trail.edges().back().to;
    auto const from = source / npus_, to = target / npus_;
    if (from == to) return narrowest;
    Rate sum;
    for (std::uint32_t plane = 0; plane < s_.planes; ++plane) {
        auto const first = rack_switch(from, plane), last = rack_switch(to, plane);
        auto least = std::min(carried(router(source), first), carried(last, router(target)));
        if (from / racks_per_pod_ == to / racks_per_pod_) {
            auto at = first;
            s_.pod.walk(from % racks_per_pod_, to % racks_per_pod_, [&](std::uint32_t rack) {
                auto const next = rack_switch(from / racks_per_pod_ * racks_per_pod_ + rack, plane);
                least = std::min(least, carried(at, next));
                at = next;
            });
        } else {
            Rate over;
            for (std::uint32_t s = 0; s < s_.spines; ++s)
                over = saturating_add(over, std::min(carried(first, spine(plane, s)), carried(spine(plane, s), last)));
            least = std::min(least, over);
        }
        sum = saturating_add(sum, least);
    }
    // Nothing along the usual ways: what is left is the way around that was found.
    return sum == Rate{} ? narrowest : std::min(narrowest, sum);
}

// Into the Clos go at most the uplinks of a rack's NPUs, which are never left out themselves.
void RackMeshFabric::offer() {
    if (s_.pods == 1) return;
    std::vector<PortSums> racks(racks_);
    PortSums all;
    for (auto const& bundle : bundles_) {
        bool const up = bundle.link_class == uplink_up;
        if (!up && bundle.link_class != uplink_down) continue;
        auto const& link = links_[bundle.first_member];
        auto const rank = (up ? link.from : link.to).value() - rank_count_;
        for (auto* sums : {&racks[rank / npus_], &all})
            sums->add(up ? bundle.capacity : Rate{}, up ? Rate{} : bundle.capacity);
    }
    auto const first_switch = rack_switch(0, 0).value();
    for (auto& bundle : bundles_) {
        if (bundle.link_class < clos_up) continue;
        auto const& link = links_[bundle.first_member];
        auto const& rack = racks[(std::min(link.from, link.to).value() - first_switch) / s_.planes];
        bundle.offered = bundle.link_class == clos_up ? rack.offered_up(all) : rack.offered_down(all);
    }
}

std::string RackMeshFabric::rack_name(std::uint32_t rack) const {
    NameWriter name;
    if (s_.pods > 1 && racks_per_pod_ > 1) name.text("p").number(rack / racks_per_pod_, digits_for(s_.pods)).text(".");
    auto const per_pod = racks_per_pod_ > 1 ? racks_per_pod_ : racks_;
    return name.text("k").number(rack % per_pod, digits_for(per_pod)).take();
}

std::string RackMeshFabric::node_name(NodeId node) const {
    auto id = node.value();
    NameWriter name;
    if (id < 2 * rank_count_) {
        auto const rank = id % rank_count_;
        name.text(rack_name(rank / npus_)).text(id < rank_count_ ? ".n" : ".r");
        for (auto d = s_.rack.dimensions(); d-- > 0;) {
            name.number(s_.rack.place(rank % npus_, d), digits_for(s_.rack.size(d)));
            if (d > 0) name.text(".");
        }
        return name.take();
    }
    id -= 2 * rank_count_;
    if (id < racks_ * s_.planes)
        return name.text(rack_name(id / s_.planes)).text(".x").number(id % s_.planes, digits_for(s_.planes)).take();
    id -= racks_ * s_.planes;
    return name.text("plane")
        .number(id / s_.spines, digits_for(s_.planes))
        .text(".spine")
        .number(id % s_.spines, digits_for(s_.spines))
        .take();
}

std::string RackMeshFabric::bundle_name(BundleId id) const {
    auto const& bundle = bundles_[id.index()];
    if (bundle.member_count == 1) return GraphFabric::bundle_name(id);
    auto const& link = links_[bundle.first_member];
    auto const up = bundle.link_class % 2 == 0;
    auto const low = up ? link.from : link.to, high = up ? link.to : link.from;
    auto const rack_of = [&](NodeId n) { return rack_name((n.value() - rack_switch(0, 0).value()) / s_.planes); };
    if (bundle.link_class <= uplink_down)
        return fmt::format("{}-{}.x*.{}", node_name(low), rack_of(high), up ? "up" : "down");
    if (bundle.link_class <= rack_down) return fmt::format("{}.x*-{}.x*", rack_of(link.from), rack_of(link.to));
    return fmt::format("{}.x*-plane*.{}", rack_of(low), up ? "up" : "down");
}

FabricFigures RackMeshFabric::figures() const {
    auto f = counted();
    auto const uplinks = uplinks_of_rack();
    auto const clos = saturating_times(clos_rate_, std::int64_t{s_.planes} * s_.spines);
    auto const in_rack = 2 + s_.rack.longest(), in_pod = racks_per_pod_ > 1 ? 4 + s_.pod.longest() : 0;
    f.diameter_hops = rank_count_ == 1 ? 0 : std::max({in_rack, in_pod, s_.pods > 1 ? std::int64_t{6} : 0});
    if (s_.pods > 1)
        f.bisection = saturating_times(std::min(uplinks, clos), std::int64_t{s_.pods / 2} * racks_per_pod_);
    else if (racks_ > 1)
        f.bisection = std::min(saturating_times(s_.rack_link_rate, s_.pod.cut() * s_.planes),
                               saturating_times(uplinks, racks_ / 2));
    else
        f.bisection = saturating_times(s_.npu_link_rate, s_.rack.cut());
    if (npus_ > 1) {
        f.paths.push_back({"NPUs of one line of a rack", 1, 3, s_.injection + s_.npu_link});
        f.paths.push_back({"the farthest of a rack",
                           s_.rack.longest() == 2   ? 2
                           : s_.rack.longest() == 3 ? 6
                                                    : 1,
                           in_rack, s_.injection + s_.npu_link * s_.rack.longest()});
    }
    auto const ends = s_.injection + s_.uplink * 2;
    if (racks_per_pod_ > 1) f.paths.push_back({"racks of one line of a pod", s_.planes, 5, ends + s_.rack_link});
    if (s_.pods > 1)
        f.paths.push_back({"over the Clos", std::int64_t{s_.planes} * s_.spines, 6, ends + s_.rack_link * 2});
    if (s_.pods > 1) f.tiers.push_back({"rack to Clos", uplinks, clos, ratio(uplinks, clos)});
    return f;
}

std::unique_ptr<Fabric> make_full_mesh(scenario::FabricSpec const& given, std::uint64_t seed) {
    auto const& spec = given.full_mesh();
    return std::make_unique<RackMeshFabric>(
        RackMeshShape{.kind = "full_mesh",
                      .rack = Grid(grid_shape(spec.rack(), "fabric.full_mesh.rack")),
                      .pod = Grid(grid_shape(spec.pod(), "fabric.full_mesh.pod")),
                      .pods = spec.pods(),
                      .planes = spec.planes(),
                      .spines = spec.spines(),
                      .oversubscription = spec.oversubscription(),
                      .npu_link_rate = Rate::from_bits_per_s(spec.npu_link_rate()),
                      .uplink_rate = Rate::from_bits_per_s(spec.uplink_rate()),
                      .rack_link_rate = Rate::from_bits_per_s(spec.rack_link_rate()),
                      .npu_link = Time::from_ps(spec.npu_link_latency()),
                      .uplink = Time::from_ps(spec.uplink_latency()),
                      .rack_link = Time::from_ps(spec.rack_link_latency()),
                      .injection = Time::from_ps(spec.injection_latency())},
        seed);
}

// Each rack is a pod of its own, so that all are joined by the Clos.
std::unique_ptr<Fabric> make_ascend950(scenario::FabricSpec const& given, std::uint64_t seed) {
    auto const& spec = given.ascend950();
    auto const port = Rate::from_bits_per_s(spec.port_rate());
    return std::make_unique<RackMeshFabric>(
        RackMeshShape{.kind = "ascend950",
                      .rack = Grid(grid_shape(spec.rack(), "fabric.ascend950.rack")),
                      .pod = Grid({1}),
                      .pods = spec.racks(),
                      .planes = spec.uplinks(),
                      .spines = spec.spines(),
                      .oversubscription = spec.oversubscription(),
                      .npu_link_rate = port,
                      .uplink_rate = port,
                      .rack_link_rate = port,
                      .npu_link = Time::from_ps(spec.npu_link_latency()),
                      .uplink = Time::from_ps(spec.uplink_latency()),
                      .rack_link = Time::from_ps(spec.rack_link_latency()),
                      .injection = Time::from_ps(spec.injection_latency())},
        seed);
}

FabricRegistration const full_mesh{"full_mesh", make_full_mesh};
FabricRegistration const ascend950{"ascend950", make_ascend950};

}  // namespace
}  // namespace orrery
