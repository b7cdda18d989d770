// SPDX-License-Identifier: Apache-2.0
// Building a CloudMatrix384 from its parameters, and finding the way between two dies.
#include "netmodels/topology/cloudmatrix384.hpp"

#include "core/check.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>

namespace orrery {

CloudMatrix384Fabric::CloudMatrix384Fabric(scenario::CloudMatrix384 const& spec)
    : supernodes_(spec.supernodes()),
      nodes_per_supernode_(spec.nodes()),
      npus_(spec.npus_per_node()),
      npu_dies_(spec.dies_per_npu()),
      cpus_(spec.cpus_per_node()),
      subplanes_(spec.subplanes()),
      l2_chips_(spec.l2_chips_per_subplane()),
      node_dies_(npus_ * npu_dies_),
      dies_(nodes_per_supernode_ * node_dies_),
      striping_(spec.striping() == "even" ? Striping::even : Striping::adaptive),
      cpu_rate_(Rate::from_bits_per_s(spec.cpu_rate())),
      rdma_oversubscription_(spec.rdma().oversubscription()),
      endpoint_latency_(Time::from_ps(spec.endpoint_latency())),
      cross_node_extra_(Time::from_ps(spec.cross_node_extra_latency())) {
    ORRERY_VALIDATE(spec.striping() == "even" || spec.striping() == "adaptive",
                    "fabric.cloudmatrix384.striping is '{}' (unknown); use adaptive or even", spec.striping());
    ORRERY_VALIDATE(supernodes_ > 0 && dies_ > 0 && l2_chips_ > 0,
                    "fabric.cloudmatrix384 has a count of zero (supernodes, nodes, npus_per_node, dies_per_npu and "
                    "l2_chips_per_subplane must be positive)");
    ORRERY_VALIDATE(subplanes_ > 0 && subplanes_ <= 64, "fabric.cloudmatrix384.subplanes is {} (must be 1 to 64)",
                    subplanes_);

    std::uint32_t const n = nodes_per_supernode_, p = subplanes_, joined = supernodes_ > 1 ? 1 : 0;
    items_ = {dies_, dies_, n, n, n * cpus_, n * cpus_, dies_, dies_, n, n, joined, joined, dies_ * (npu_dies_ - 1)};
    width_ = {p, p, p * l2_chips_, p * l2_chips_, p, p, 1, 1, 1, 1, 1, 1, 1};
    std::uint64_t per_supernode = 0;
    for (std::size_t c = 0; c < class_count; ++c) {
        first_link_[c] = links_per_supernode_;
        first_bundle_[c] = bundles_per_supernode_;
        link_counts_[c] = items_[c] * width_[c];
        per_supernode += 1ULL * items_[c] * width_[c];
        links_per_supernode_ += link_counts_[c];
        bundles_per_supernode_ += items_[c];
    }
    // CPUs, L1 and L2 chips, VPC cards and the super-node's part of the RDMA network, in this order.
    others_per_supernode_ = n * cpus_ + n * p + p * l2_chips_ + n + 1;
    reserve(1ULL * supernodes_ * (dies_ + others_per_supernode_) + 2, supernodes_ * per_supernode,
            1ULL * supernodes_ * bundles_per_supernode_);

    auto const die = Rate::from_bits_per_s(spec.die_link_rate()), l2 = Rate::from_bits_per_s(spec.l1_l2_link_rate());
    auto const rdma = Rate::from_bits_per_s(spec.rdma().die_rate()),
               vpc = Rate::from_bits_per_s(spec.vpc().node_rate());
    Rate const super = divided(saturating_times(rdma, dies_), rdma_oversubscription_);
    Rate const cpu = Rate::from_bits_per_s(cpu_rate_.bits_per_s() / p);
    // A link has the rate that transfers achieve on it, so that every network model sees the same.
    auto const nic = scaled(rdma, spec.rdma().efficiency()), nics = scaled(super, spec.rdma().efficiency());
    rate_ = {die, die, l2, l2, cpu, cpu, nic, nic, vpc, vpc, nics, nics, Rate::from_bits_per_s(spec.sio_rate())};
    for (std::size_t c = 0; c < class_count; ++c)
        ORRERY_VALIDATE(rate_[c] > Rate{}, "a rate of fabric.cloudmatrix384 is zero (all must be positive)");

    // A link's latency is its wire and the pipeline of the switch it enters. The RDMA and VPC networks are published
    // only as end-to-end figures: their latency is dealt evenly to the links of a path.
    auto const ps = [](std::int64_t t) { return Time::from_ps(t); };
    Time const pipeline = ps(spec.switch_latency()), near = ps(spec.short_link_latency());
    Time const far = ps(spec.l1_l2_link_latency()) + pipeline;
    std::int64_t const r = spec.rdma().latency(), v = spec.vpc().latency();
    latency_ = {near + pipeline,
                near,
                far,
                far,
                near + pipeline,
                near,
                ps(r / 4),
                ps(r - r / 4 * 3),
                ps(v / 2),
                ps(v - v / 2),
                ps(r / 4),
                ps(r / 4),
                ps(spec.same_package_latency())};
    build();
    refresh();
}

void CloudMatrix384Fabric::build() {
    link_classes_ = {{"ub.die-l1.up", "ub"},   {"ub.die-l1.down", "ub"},      {"ub.l1-l2.up", "ub"},
                     {"ub.l1-l2.down", "ub"},  {"ub.cpu-l1.up", "ub"},        {"ub.cpu-l1.down", "ub"},
                     {"rdma.die.up", "rdma"},  {"rdma.die.down", "rdma"},     {"vpc.node.up", "vpc"},
                     {"vpc.node.down", "vpc"}, {"rdma.supernode.up", "rdma"}, {"rdma.supernode.down", "rdma"},
                     {"sio.die-die", "sio"}};
    rank_count_ = supernodes_ * dies_;
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_node(NodeKind::endpoint, 0, RankId{r});
    for (std::uint32_t s = 0; s < supernodes_; ++s) {
        auto const add = [&](std::uint32_t count, NodeKind kind, std::uint8_t tier) {
            for (std::uint32_t i = 0; i < count; ++i) add_node(kind, tier);
        };
        add(nodes_per_supernode_ * cpus_, NodeKind::cpu, 0);
        add(nodes_per_supernode_ * subplanes_, NodeKind::switch_chip, 1);
        add(subplanes_ * l2_chips_, NodeKind::switch_chip, 2);
        add(nodes_per_supernode_, NodeKind::nic, 0);
        add(1, NodeKind::switch_chip, 1);
    }
    add_node(NodeKind::switch_chip, 2);  // the VPC network
    add_node(NodeKind::switch_chip, 2);  // the RDMA spine

    for (std::uint32_t s = 0; s < supernodes_; ++s) add_domain(fmt::format("sn{}.ub", s));
    DomainId const rdma = add_domain("rdma");
    DomainId const vpc = add_domain("vpc");
    for (std::uint32_t s = 0; s < supernodes_; ++s) {
        for (std::uint16_t c = 0; c < class_count; ++c) {
            auto const of = static_cast<Class>(c);
            bool const is_rdma = of == rdma_up || of == rdma_down || of == super_up || of == super_down;
            bool const is_vpc = of == vpc_up || of == vpc_down;
            for (std::uint32_t item = 0; item < items_[of]; ++item) {
                open_bundle(of, is_rdma ? rdma : is_vpc ? vpc : DomainId{s});
                for (std::uint32_t m = 0; m < width_[of]; ++m) {
                    Link const built = ends(s, of, item, m);
                    add_link(built.from, built.to, nominal(of, m), latency_[of]);
                }
            }
        }
    }
}

Link CloudMatrix384Fabric::ends(std::uint32_t s, Class of, std::uint32_t item, std::uint32_t member) const {
    std::uint32_t const cpus = supernodes_ * dies_ + s * others_per_supernode_;
    std::uint32_t const l1 = cpus + nodes_per_supernode_ * cpus_;
    std::uint32_t const l2 = l1 + nodes_per_supernode_ * subplanes_;
    std::uint32_t const cards = l2 + subplanes_ * l2_chips_;
    std::uint32_t const rdma = cards + nodes_per_supernode_;
    std::uint32_t const vpc_network = supernodes_ * (dies_ + others_per_supernode_);
    std::uint32_t const die = s * dies_ + item;
    std::uint32_t from = 0, to = 0;
    switch (of & ~1) {
        case die_up:
            from = die, to = l1 + item / node_dies_ * subplanes_ + member;
            break;
        case node_up:
            from = l1 + item * subplanes_ + member / l2_chips_, to = l2 + member;
            break;
        case cpu_up:
            from = cpus + item, to = l1 + item / cpus_ * subplanes_ + member;
            break;
        case rdma_up:
            from = die, to = rdma;
            break;
        case vpc_up:
            from = cards + item, to = vpc_network;
            break;
        case super_up:
            from = rdma, to = vpc_network + 1;
            break;
        default:
            from = s * dies_ + item / (npu_dies_ - 1), to = s * dies_ + sio_target(item);
            break;
    }
    if (of != sio && of % 2 == 1) std::swap(from, to);
    Link link;
    link.from = NodeId{from};
    link.to = NodeId{to};
    return link;
}

Route CloudMatrix384Fabric::route(RankId source, RankId target) const {
    ORRERY_EXPECT(source != target && source.value() < rank_count_ && target.value() < rank_count_);
    std::uint32_t const a = source.value(), b = target.value();
    std::uint32_t const s = a / dies_, t = b / dies_, da = a - s * dies_, db = b - t * dies_;
    Route route;
    auto const hop = [&](std::uint32_t id) { route.hops[route.hop_count++] = BundleId{id}; };
    auto const add_bundles = [&] {
        route.cap = unlimited_rate;
        for (BundleId const id : route.bundles()) {
            route.cap = std::min(route.cap, bundles_[id.index()].capacity);
            route.latency += bundles_[id.index()].latency;
        }
    };
    if (s != t) {
        hop(bundle(s, rdma_up, da)), hop(bundle(s, super_up, 0));
        hop(bundle(t, super_down, 0)), hop(bundle(t, rdma_down, db));
        route.domain = DomainId{supernodes_};
        add_bundles();
    } else if (a / npu_dies_ == b / npu_dies_) {
        hop(bundle(s, sio, sio_item(da, db)));
        route.domain = DomainId{s};
        add_bundles();
    } else {
        std::uint32_t const from_node = da / node_dies_, to_node = db / node_dies_;
        hop(bundle(s, die_up, da));
        route.latency = endpoint_latency_;
        if (from_node != to_node) {
            hop(bundle(s, node_up, from_node)), hop(bundle(s, node_down, to_node));
            route.latency += cross_node_extra_;
        }
        hop(bundle(s, die_down, db));
        route.domain = DomainId{s};
        if (degraded_) {
            Share const share = striped(a, b);
            route.cap = share.rate;
            route.latency += share.latency;
        } else {
            add_bundles();
        }
    }
    if (route.cap == Rate{}) [[unlikely]]
        refuse(source, target, route);
    return route;
}

void CloudMatrix384Fabric::refuse(RankId source, RankId target, Route const& route) const {
    constexpr std::size_t most = 16;
    std::vector<std::string> dead;
    for (BundleId const id : route.bundles()) {
        Bundle const& b = bundles_[id.index()];
        for (std::uint32_t m = 0; m < b.member_count && dead.size() < most; ++m)
            if (links_[b.first_member + m].rate == Rate{}) dead.push_back(link_name(LinkId{b.first_member + m}));
    }
    if (dead.size() == most) dead.emplace_back("...");
    throw InputError(fmt::format("no path from {} to {} (down: {}); take some of them out of fabric.degrade",
                                 node_name(NodeId{source.value()}), node_name(NodeId{target.value()}),
                                 fmt::join(dead, ", ")));
}

namespace {

FabricRegistration const registered{"cloudmatrix384",
                                    [](scenario::FabricSpec const& spec, std::uint64_t) -> std::unique_ptr<Fabric> {
                                        return std::make_unique<CloudMatrix384Fabric>(spec.cloudmatrix384());
                                    }};

}  // namespace

}  // namespace orrery
