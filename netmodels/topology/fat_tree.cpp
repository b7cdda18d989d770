// SPDX-License-Identifier: Apache-2.0
// Fat-tree of k-port switches, 2 or 3 levels (Al-Fares et al., SIGCOMM 2008), with oversubscription at the edge.
#include "core/check.hpp"
#include "netmodels/topology/graph_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

enum Class : std::uint16_t { host_up, host_down, edge_up, edge_down, pod_up, pod_down };

// Two levels are one pod: its edge switches are the leaves, its aggregation switches the spines.
struct Counts {
    std::uint32_t pods, edges, hosts_per_edge, aggregations, cores_per_aggregation;

    explicit Counts(scenario::FatTree const& spec) {
        auto const k = spec.radix();
        auto const wanted = spec.pods() == 0 ? k : spec.pods();
        ORRERY_VALIDATE(wanted <= k,
                        "fabric.fat_tree.pods is {} (a switch at the top has {} ports, one for each); use at"
                        " most {}",
                        wanted, k, k);
        auto const up = k / (1 + spec.oversubscription());
        aggregations = static_cast<std::uint32_t>(std::lround(up));
        hosts_per_edge = k - aggregations;
        ORRERY_VALIDATE(std::abs(up - aggregations) < 1e-9 && aggregations > 0 && hosts_per_edge > 0,
                        "fabric.fat_tree.oversubscription is {} ({} ports do not divide {}:1 into whole ports); use "
                        "another radix",
                        spec.oversubscription(), k, spec.oversubscription());
        if (spec.levels() == 2) {
            pods = 1, edges = wanted, cores_per_aggregation = 0;
            return;
        }
        ORRERY_VALIDATE(k % 2 == 0,
                        "fabric.fat_tree.radix is {} (half of the ports of an aggregation switch go up); use "
                        "an even number",
                        k);
        pods = wanted, edges = cores_per_aggregation = k / 2;
        constexpr std::uint64_t most_hosts = 1U << 24;
        ORRERY_VALIDATE(1ULL * pods * hosts_per_pod() <= most_hosts,
                        "fabric.fat_tree.radix is {} ({} hosts, at most {}) use fewer ports or pods", k,
                        1ULL * pods * hosts_per_pod(), most_hosts);
    }
    std::uint32_t hosts_per_pod() const { return edges * hosts_per_edge; }
    std::uint32_t cores() const { return aggregations * cores_per_aggregation; }
};

class FatTreeFabric final : public GraphFabric {
  public:
    FatTreeFabric(scenario::FatTree const& spec, std::uint64_t seed)
        : GraphFabric(seed, balancing_of(spec.load_balancing(), "fabric.fat_tree.load_balancing")),
          n_(spec),
          host_rate_(Rate::from_bits_per_s(spec.host_rate())),
          switch_rate_(spec.has_switch_rate() ? Rate::from_bits_per_s(spec.switch_rate()) : host_rate_),
          wire_(Time::from_ps(spec.link_latency())),
          pipeline_(Time::from_ps(spec.switch_latency())) {
        build();
    }

    std::string kind() const override { return "fat_tree"; }
    FabricFigures figures() const override;
    std::string bundle_name(BundleId bundle) const override;
    std::string node_name(NodeId node) const override;
    std::uint32_t ranks_per_block() const override { return n_.hosts_per_edge; }
    std::string rank_name(RankId rank) const override {
        auto const edge = rank.value() / n_.hosts_per_edge;
        if (n_.pods == 1) return fmt::format("edge switch {}, host {}", edge, rank.value());
        return fmt::format("pod {}, edge switch {}, host {}", edge / n_.edges, edge % n_.edges, rank.value());
    }

  protected:
    bool rule(RankId source, RankId target, Trail& trail) const override;
    Rate sprayed(Trail const& trail, Rate narrowest) const override;
    void offer() override;

  private:
    void build();
    NodeId edge_switch(std::uint32_t number) const { return NodeId{rank_count_ + number}; }
    NodeId aggregation(std::uint32_t pod, std::uint32_t number) const {
        return NodeId{rank_count_ + n_.pods * n_.edges + pod * n_.aggregations + number};
    }
    NodeId core(std::uint32_t number) const {
        return NodeId{rank_count_ + n_.pods * (n_.edges + n_.aggregations) + number};
    }
    Rate carried(NodeId from, NodeId to) const { return links_[edge(from, to).first].rate; }
    NameWriter in_pod(std::uint32_t pod) const {
        NameWriter name;
        if (n_.pods > 1) name.text("p").number(pod, digits_for(n_.pods)).text(".");
        return name;
    }

    Counts n_;
    Rate host_rate_, switch_rate_;
    Time wire_, pipeline_;
};

void FatTreeFabric::build() {
    auto const switches = static_cast<std::uint64_t>(n_.pods) * (n_.edges + n_.aggregations) + n_.cores();
    auto const hosts = static_cast<std::uint64_t>(n_.pods) * n_.hosts_per_pod();
    auto const links =
        2 * (hosts + static_cast<std::uint64_t>(n_.pods) * n_.aggregations * (n_.edges + n_.cores_per_aggregation));
    reserve(hosts + switches, links, balancing() == Balancing::ecmp ? links : 2 * (hosts + 2 * switches));
    rank_count_ = static_cast<std::uint32_t>(hosts);
    link_classes_ = {{"host.up", "fabric"},   {"host.down", "fabric"}, {"edge.up", "fabric"},
                     {"edge.down", "fabric"}, {"pod.up", "fabric"},    {"pod.down", "fabric"}};
    for (std::uint32_t h = 0; h < rank_count_; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
    for (std::uint32_t e = 0; e < n_.pods * n_.edges; ++e) add_node(NodeKind::switch_chip, 1);
    for (std::uint32_t a = 0; a < n_.pods * n_.aggregations; ++a) add_node(NodeKind::switch_chip, 2);
    for (std::uint32_t c = 0; c < n_.cores(); ++c) add_node(NodeKind::switch_chip, 3);
    auto const domain = add_domain("fat-tree");
    auto const hop = wire_ + pipeline_;
    for (std::uint32_t h = 0; h < rank_count_; ++h)
        connect(NodeId{h}, edge_switch(h / n_.hosts_per_edge),
                {.rate = host_rate_, .up = hop, .down = wire_, .link_class = host_up}, domain);
    for (std::uint32_t pod = 0; pod < n_.pods; ++pod) {
        std::vector<NodeId> above;
        for (std::uint32_t a = 0; a < n_.aggregations; ++a) above.push_back(aggregation(pod, a));
        for (std::uint32_t e = 0; e < n_.edges; ++e)
            connect_all(edge_switch(pod * n_.edges + e), above,
                        {.rate = switch_rate_, .up = hop, .down = hop, .link_class = edge_up}, domain);
        // Aggregation switch a of every pod has a link to each core switch of row a.
        std::vector<Ends> rows;
        for (std::uint32_t c = 0; c < n_.cores(); ++c)
            rows.push_back({aggregation(pod, c / n_.cores_per_aggregation), core(c)});
        connect(rows, {.rate = switch_rate_, .up = hop, .down = hop, .link_class = pod_up}, domain);
    }
    finish();
}

bool FatTreeFabric::rule(RankId source, RankId target, Trail& trail) const {
    auto const from = source.value() / n_.hosts_per_edge, to = target.value() / n_.hosts_per_edge;
    auto const climb = [&](NodeId place, std::uint32_t ways) {
        return balancing() == Balancing::spray ? 0 : hashed(source, target, place.value(), ways);
    };
    auto at = NodeId{source.value()};
    auto const go = [&](NodeId next) {
        trail.add(edge(at, next));
        at = next;
    };
    go(edge_switch(from));
    if (from != to) {
        auto const row = climb(at, n_.aggregations);
        go(aggregation(from / n_.edges, row));
        if (from / n_.edges != to / n_.edges) {
            go(core(row * n_.cores_per_aggregation + climb(at, n_.cores_per_aggregation)));
            go(aggregation(to / n_.edges, row));
        }
        go(edge_switch(to));
    }
    go(NodeId{target.value()});
    return true;
}

// The sum over aggregation switches of the slowest of what leads there, across and back; across, the sum over cores.
Rate FatTreeFabric::sprayed(Trail const& trail, Rate narrowest) const {
    auto const edges = trail.edges();
    if (edges.size() == 2 || balancing() == Balancing::ecmp) return narrowest;
    auto const from = NodeId{edges[0].to}, to = NodeId{links_[edges.back().first].from};
    auto const pod_from = (from.value() - rank_count_) / n_.edges, pod_to = (to.value() - rank_count_) / n_.edges;
    Rate sum;
    for (std::uint32_t a = 0; a < n_.aggregations; ++a) {
        auto const low = aggregation(pod_from, a), high = aggregation(pod_to, a);
        auto through = std::min(carried(from, low), carried(high, to));
        if (pod_from != pod_to) {
            Rate across;
            for (std::uint32_t c = a * n_.cores_per_aggregation; c < (a + 1) * n_.cores_per_aggregation; ++c)
                across = saturating_add(across, std::min(carried(low, core(c)), carried(core(c), high)));
            through = std::min(through, across);
        }
        sum = saturating_add(sum, through);
    }
    return std::min(narrowest, sum);
}

// What hosts below a switch or a pod can send and take bounds its links up and down.
void FatTreeFabric::offer() {
    std::vector<PortSums> edges(std::size_t{n_.pods} * n_.edges), pods(n_.pods);
    PortSums all;
    for (std::uint32_t h = 0; h < rank_count_; ++h) {
        auto const e = h / n_.hosts_per_edge;
        for (auto* sums : {&edges[e], &pods[e / n_.edges], &all})
            sums->add(bundles_[2 * h].capacity, bundles_[2 * h + 1].capacity);
    }
    for (auto& bundle : bundles_) {
        auto const& link = links_[bundle.first_member];
        auto const low = std::min(link.from, link.to).value() - rank_count_;
        switch (bundle.link_class) {
            case edge_up:
                bundle.offered = edges[low].offered_up(all);
                break;
            case edge_down:
                bundle.offered = edges[low].offered_down(all);
                break;
            case pod_up:
                bundle.offered = pods[(low - n_.pods * n_.edges) / n_.aggregations].offered_up(all);
                break;
            case pod_down:
                bundle.offered = pods[(low - n_.pods * n_.edges) / n_.aggregations].offered_down(all);
                break;
            default:
                break;
        }
    }
}

std::string FatTreeFabric::node_name(NodeId node) const {
    auto id = node.value();
    NameWriter name;
    if (id < rank_count_) return name.text("h").number(id, digits_for(rank_count_)).take();
    id -= rank_count_;
    if (id < n_.pods * n_.edges)
        return in_pod(id / n_.edges).text("e").number(id % n_.edges, digits_for(n_.edges)).take();
    id -= n_.pods * n_.edges;
    if (id < n_.pods * n_.aggregations)
        return in_pod(id / n_.aggregations).text("a").number(id % n_.aggregations, digits_for(n_.aggregations)).take();
    return name.text("c").number(id - n_.pods * n_.aggregations, digits_for(n_.cores())).take();
}

std::string FatTreeFabric::bundle_name(BundleId id) const {
    auto const& bundle = bundles_[id.index()];
    if (bundle.link_class <= host_down || balancing() == Balancing::ecmp) return GraphFabric::bundle_name(id);
    auto const& link = links_[bundle.first_member];
    auto const low = std::min(link.from, link.to).value() - rank_count_;
    if (bundle.link_class <= edge_down)
        return fmt::format("{}-{}*.{}", node_name(NodeId{low + rank_count_}), in_pod(low / n_.edges).text("a").take(),
                           bundle.link_class == edge_up ? "up" : "down");
    auto const pod = (low - n_.pods * n_.edges) / n_.aggregations;
    return in_pod(pod).text(bundle.link_class == pod_up ? "a*-c*.up" : "a*-c*.down").take();
}

FabricFigures FatTreeFabric::figures() const {
    auto f = counted();
    auto const hosts = saturating_times(host_rate_, n_.hosts_per_edge);
    auto const up = saturating_times(switch_rate_, n_.aggregations);
    auto const pod_hosts = saturating_times(hosts, n_.edges);
    auto const pod_core = saturating_times(switch_rate_, n_.cores());
    f.diameter_hops = n_.pods > 1 ? 6 : n_.edges > 1 ? 4 : n_.hosts_per_edge > 1 ? 2 : 0;
    f.bisection = n_.pods > 1
                      ? saturating_times(std::min({pod_hosts, saturating_times(up, n_.edges), pod_core}), n_.pods / 2)
                  : n_.edges > 1 ? saturating_times(std::min(hosts, up), n_.edges / 2)
                                 : saturating_times(host_rate_, n_.hosts_per_edge / 2);
    auto const hop = wire_ + pipeline_;
    if (n_.hosts_per_edge > 1) f.paths.push_back({"hosts of one edge switch", 1, 2, hop + wire_});
    if (n_.edges > 1) f.paths.push_back({"hosts of one pod", n_.aggregations, 4, hop * 3 + wire_});
    if (n_.pods > 1) f.paths.push_back({"hosts of two pods", n_.cores(), 6, hop * 5 + wire_});
    f.tiers.push_back({"edge switch to above", hosts, up, ratio(hosts, up)});
    if (n_.pods > 1) f.tiers.push_back({"pod to core", pod_hosts, pod_core, ratio(pod_hosts, pod_core)});
    return f;
}

FabricRegistration const registered{
    "fat_tree", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        return std::make_unique<FatTreeFabric>(spec.fat_tree(), seed);
    }};

}  // namespace
}  // namespace orrery
