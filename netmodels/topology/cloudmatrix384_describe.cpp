// SPDX-License-Identifier: Apache-2.0
// Names of links and nodes, and the figures of a CloudMatrix384.
#include "netmodels/topology/cloudmatrix384.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::string CloudMatrix384Fabric::name(std::uint32_t s, Class of, std::uint32_t item, std::uint32_t member) const {
    NameWriter w;
    w.text("sn").number(s, digits_for(supernodes_));
    auto const node = [&](std::uint32_t n) { w.text(".n").number(n, digits_for(nodes_per_supernode_)); };
    auto const die = [&](std::uint32_t d) { w.number(d % node_dies_, digits_for(node_dies_)); };
    auto const chip = [&](std::uint32_t number, std::uint32_t count) {
        if (member == any)
            w.text("*");
        else
            w.number(number, digits_for(count));
    };
    switch (of & ~1) {
        case die_up:
            node(item / node_dies_), w.text(".d"), die(item), w.text("-l1."), chip(member, subplanes_);
            break;
        case node_up:
            node(item), w.text(".l1."), chip(member / l2_chips_, subplanes_);
            w.text("-l2."), chip(member % l2_chips_, l2_chips_);
            break;
        case cpu_up:
            node(item / cpus_), w.text(".c").number(item % cpus_, digits_for(cpus_));
            w.text("-l1."), chip(member, subplanes_);
            break;
        case rdma_up:
            node(item / node_dies_), w.text(".d"), die(item), w.text("-rdma");
            break;
        case vpc_up:
            node(item), w.text(".vpc");
            break;
        case super_up:
            w.text(".rdma");
            break;
        default: {
            std::uint32_t const from = item / (npu_dies_ - 1);
            node(from / node_dies_), w.text(".d"), die(from), w.text("-d"), die(sio_target(item));
            return w.text(".sio").take();
        }
    }
    return w.text(of % 2 == 0 ? ".up" : ".down").take();
}

std::string CloudMatrix384Fabric::node_name(NodeId id) const {
    std::uint32_t const r = id.value(), others = others_per_supernode_;
    NameWriter w;
    auto const begin = [&](std::uint32_t s) { w.text("sn").number(s, digits_for(supernodes_)); };
    auto const node = [&](std::uint32_t n) { w.text(".n").number(n, digits_for(nodes_per_supernode_)); };
    if (r < rank_count_) {
        begin(r / dies_), node(r % dies_ / node_dies_);
        return w.text(".d").number(r % node_dies_, digits_for(node_dies_)).take();
    }
    std::uint32_t i = r - rank_count_;
    if (i >= supernodes_ * others) return i == supernodes_ * others ? "vpc" : "rdma";
    begin(i / others);
    i %= others;
    if (i < nodes_per_supernode_ * cpus_)
        return node(i / cpus_), w.text(".c").number(i % cpus_, digits_for(cpus_)).take();
    i -= nodes_per_supernode_ * cpus_;
    if (i < nodes_per_supernode_ * subplanes_)
        return node(i / subplanes_), w.text(".l1.").number(i % subplanes_, digits_for(subplanes_)).take();
    i -= nodes_per_supernode_ * subplanes_;
    if (i < subplanes_ * l2_chips_) {
        w.text(".l2.").number(i / l2_chips_, digits_for(subplanes_)).text(".");
        return w.number(i % l2_chips_, digits_for(l2_chips_)).take();
    }
    i -= subplanes_ * l2_chips_;
    if (i < nodes_per_supernode_) return node(i), w.text(".vpc").take();
    return w.text(".rdma").take();
}

FabricFigures CloudMatrix384Fabric::figures() const {
    FabricFigures f;
    std::uint32_t const n = nodes_per_supernode_, k = supernodes_;
    f.ranks = rank_count_;
    f.switches = static_cast<std::int64_t>(k) * (n * subplanes_ + subplanes_ * l2_chips_);
    f.other_nodes = static_cast<std::int64_t>(nodes_.size()) - f.ranks - f.switches;
    f.links = static_cast<std::int64_t>(links_.size());
    f.classes = count_classes(rate_);

    Time const node_latency = endpoint_latency_ + latency_[die_up] + latency_[die_down];
    Time const far_latency = node_latency + cross_node_extra_ + latency_[node_up] + latency_[node_down];
    Time const rdma_latency = latency_[rdma_up] + latency_[super_up] + latency_[super_down] + latency_[rdma_down];
    if (npu_dies_ > 1) f.paths.push_back({"dies of one package", 1, 1, latency_[sio]});
    if (npus_ > 1) f.paths.push_back({"dies of one node", subplanes_, 2, node_latency});
    if (n > 1) f.paths.push_back({"dies of two nodes", 1LL * subplanes_ * l2_chips_, 4, far_latency});
    if (k > 1) f.paths.push_back({"dies of two super-nodes", 1, 4, rdma_latency});
    for (auto const& path : f.paths) f.diameter_hops = std::max(f.diameter_hops, path.hops);

    Rate const die = saturating_times(rate_[die_up], subplanes_);
    Rate const chip_down = saturating_times(rate_[die_up], node_dies_),
               chip_up = saturating_times(rate_[node_up], l2_chips_);
    Rate const node_npus = saturating_times(die, node_dies_), node_core = saturating_times(chip_up, subplanes_);
    Rate const node_all = saturating_add(node_npus, saturating_times(cpu_rate_, cpus_));
    Rate const rdma_dies = saturating_times(rate_[rdma_up], dies_);
    f.tiers.push_back({"L1 chip to L2, NPUs only", chip_down, chip_up, ratio(chip_down, chip_up)});
    f.tiers.push_back({"node to L2, NPUs only", node_npus, node_core, ratio(node_npus, node_core)});
    f.tiers.push_back({"node to L2, NPUs and CPUs", node_all, node_core, ratio(node_all, node_core)});
    if (k > 1)
        f.tiers.push_back({"super-node to RDMA spine", rdma_dies, rate_[super_up], ratio(rdma_dies, rate_[super_up])});

    // Cut into two halves of whole super-nodes, else of whole nodes, else of whole packages, else of dies.
    if (k > 1)
        f.bisection = saturating_times(std::min(rdma_dies, rate_[super_up]), k / 2);
    else if (n > 1)
        f.bisection = saturating_times(std::min(node_npus, node_core), n / 2);
    else if (npus_ > 1)
        f.bisection = saturating_times(die, npus_ / 2 * npu_dies_);
    else
        f.bisection = saturating_times(rate_[sio], (npu_dies_ / 2) * (npu_dies_ - npu_dies_ / 2));
    return f;
}

}  // namespace orrery
