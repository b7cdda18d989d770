// SPDX-License-Identifier: Apache-2.0
// What a striped transfer gets when sub-planes are unequal, and what bundles can carry and be offered.
#include "netmodels/topology/cloudmatrix384.hpp"

#include <algorithm>
#include <bit>

namespace orrery {

// What all sub-planes together carry once `subplane` joins as number `used` (from 1) of those left.
CloudMatrix384Fabric::Share CloudMatrix384Fabric::combine(Share all, Share subplane, std::uint32_t used) const {
    Time const latency = std::max(all.latency, subplane.latency);
    if (striping_ == Striping::adaptive) return {saturating_add(all.rate, subplane.rate), latency};
    // Even: every usable sub-plane carries as much as the slowest of them.
    if (used == 1) return {subplane.rate, latency};
    auto const each = std::min(all.rate.bits_per_s() / (used - 1), subplane.rate.bits_per_s());
    return {Rate::from_bits_per_s(each * used), latency};
}

// Links of one bundle within one sub-plane, striped over by the same rule.
CloudMatrix384Fabric::Share CloudMatrix384Fabric::subplane_of(Link const* links, std::uint32_t count) const {
    Share share;
    std::uint32_t used = 0;
    for (std::uint32_t k = 0; k < count; ++k)
        if (links[k].rate > Rate{}) share = combine(share, {links[k].rate, links[k].latency}, ++used);
    return share;
}

void CloudMatrix384Fabric::refresh_striped(Bundle& bundle) {
    std::uint32_t const per_subplane = bundle.member_count / subplanes_;
    Share all;
    std::uint32_t used = 0;
    for (std::uint32_t p = 0; p < subplanes_; ++p) {
        Share const share = subplane_of(&links_[bundle.first_member + p * per_subplane], per_subplane);
        if (share.rate > Rate{}) all = combine(all, share, ++used);
    }
    bundle.capacity = all.rate;
    bundle.latency = all.latency;
}

void CloudMatrix384Fabric::refresh() {
    degraded_ = false;
    for (Bundle& b : bundles_) {
        auto const of = static_cast<Class>(b.link_class);
        if (of <= cpu_down && striping_ == Striping::even)
            refresh_striped(b);
        else
            refresh_bundle(b);
        auto const links = links_of(b);
        for (std::uint32_t m = 0; m < links.size(); ++m)
            degraded_ = degraded_ || links[m].rate != nominal(of, m) || links[m].latency != latency_[of];
    }
    refresh_offered();
    refresh_damage();
}

CloudMatrix384Fabric::Trunk CloudMatrix384Fabric::trunk_of(Link const* links) const {
    Trunk trunk{subplane_of(links, l2_chips_), links[0].rate, links[0].rate, true};
    for (std::uint32_t k = 1; k < l2_chips_; ++k) {
        trunk.slowest = std::min(trunk.slowest, links[k].rate);
        trunk.fastest = std::max(trunk.fastest, links[k].rate);
        trunk.one_latency = trunk.one_latency && links[k].latency == links[0].latency;
    }
    return trunk;
}

void CloudMatrix384Fabric::refresh_damage() {
    damage_ = {};
    if (!degraded_) return;
    auto const as_built = [&](Class of, Link const& l) { return l.rate == rate_[of] && l.latency == latency_[of]; };
    auto const bit = [](std::uint32_t p) { return std::uint64_t{1} << p; };
    for (std::uint32_t s = 0; s < supernodes_; ++s) {
        for (std::uint32_t d = 0; d < dies_; ++d) {
            for (auto const of : {die_up, die_down}) {
                std::uint64_t& changed = damage_.dies.emplace_back(0);
                for (std::uint32_t p = 0; p < subplanes_; ++p)
                    if (!as_built(of, links_[link(s, of, d) + p])) changed |= bit(p);
            }
        }
        for (std::uint32_t n = 0; n < nodes_per_supernode_; ++n) {
            for (auto const of : {node_up, node_down}) {
                std::uint64_t& changed = damage_.nodes.emplace_back(0);
                for (std::uint32_t p = 0; p < subplanes_; ++p) {
                    Link const* const first = &links_[link(s, of, n) + p * l2_chips_];
                    for (std::uint32_t k = 0; k < l2_chips_; ++k)
                        if (!as_built(of, first[k])) changed |= bit(p);
                    damage_.trunks.push_back(trunk_of(first));
                }
            }
        }
    }
}

// Bounded by the bundles of dies only, which are themselves never left out: were two core bundles each left out because
// the other bounds it, nothing would. CPUs send nothing, so they do not count.
void CloudMatrix384Fabric::refresh_offered() {
    auto const sum = [&](std::uint32_t s, Class of, std::uint32_t first, std::uint32_t count) {
        return capacity_sum(bundle(s, of, first), count);
    };
    Rate rdma_all_up, rdma_all_down;
    for (std::uint32_t s = 0; s < supernodes_; ++s) {
        rdma_all_up = saturating_add(rdma_all_up, sum(s, rdma_up, 0, dies_));
        rdma_all_down = saturating_add(rdma_all_down, sum(s, rdma_down, 0, dies_));
        Rate const all_up = sum(s, die_up, 0, dies_), all_down = sum(s, die_down, 0, dies_);
        for (std::uint32_t n = 0; n < nodes_per_supernode_; ++n) {
            Rate const up = sum(s, die_up, n * node_dies_, node_dies_);
            Rate const down = sum(s, die_down, n * node_dies_, node_dies_);
            bundles_[bundle(s, node_up, n)].offered = std::min(up, saturating_subtract(all_down, down));
            bundles_[bundle(s, node_down, n)].offered = std::min(saturating_subtract(all_up, up), down);
        }
    }
    for (std::uint32_t s = 0; s < supernodes_ && supernodes_ > 1; ++s) {
        Rate const up = sum(s, rdma_up, 0, dies_), down = sum(s, rdma_down, 0, dies_);
        bundles_[bundle(s, super_up, 0)].offered = std::min(up, saturating_subtract(rdma_all_down, down));
        bundles_[bundle(s, super_down, 0)].offered = std::min(saturating_subtract(rdma_all_up, up), down);
    }
}

// Sub-plane p between two nodes: every L2 chip turns the slower of the two links it joins.
CloudMatrix384Fabric::Share CloudMatrix384Fabric::core(std::uint32_t from_node, std::uint32_t to_node,
                                                       std::uint32_t p) const {
    Trunk const& up = damage_.trunks[2ULL * from_node * subplanes_ + p];
    Trunk const& down = damage_.trunks[(2ULL * to_node + 1) * subplanes_ + p];
    // When no link of one side is slower than any of the other, the other side alone decides.
    if (up.slowest >= down.fastest && up.one_latency) return {down.share.rate, up.share.latency + down.share.latency};
    if (down.slowest >= up.fastest && down.one_latency) return {up.share.rate, up.share.latency + down.share.latency};
    std::uint32_t const n = nodes_per_supernode_, s = from_node / n;
    Link const* const rise = &links_[link(s, node_up, from_node % n) + p * l2_chips_];
    Link const* const fall = &links_[link(s, node_down, to_node % n) + p * l2_chips_];
    Share share;
    std::uint32_t used = 0;
    for (std::uint32_t k = 0; k < l2_chips_; ++k) {
        Rate const rate = std::min(rise[k].rate, fall[k].rate);
        if (rate > Rate{}) share = combine(share, {rate, rise[k].latency + fall[k].latency}, ++used);
    }
    return share;
}

// A transfer over the UB plane of a degraded fabric, put together from the sub-planes in which no hop is down.
CloudMatrix384Fabric::Share CloudMatrix384Fabric::striped(std::uint32_t source, std::uint32_t target) const {
    std::uint32_t const s = source / dies_, from_node = source / node_dies_, to_node = target / node_dies_;
    bool const crosses = from_node != to_node;
    std::uint64_t changed = damage_.dies[2ULL * source] | damage_.dies[2ULL * target + 1];
    if (crosses) changed |= damage_.nodes[2ULL * from_node] | damage_.nodes[2ULL * to_node + 1];

    Share all;
    auto used = subplanes_ - static_cast<std::uint32_t>(std::popcount(changed));
    if (used > 0) {  // the sub-planes that are as built are alike, so either rule gives their number times one of them
        Rate const trunk = saturating_times(rate_[node_up], l2_chips_);
        all.rate = saturating_times(crosses ? std::min(rate_[die_up], trunk) : rate_[die_up], used);
        all.latency = latency_[die_up] + latency_[die_down];
        if (crosses) all.latency += latency_[node_up] + latency_[node_down];
    }
    Link const* const rise = &links_[link(s, die_up, source % dies_)];
    Link const* const fall = &links_[link(s, die_down, target % dies_)];
    for (; changed != 0; changed &= changed - 1) {
        auto const p = static_cast<std::uint32_t>(std::countr_zero(changed));
        Share share{std::min(rise[p].rate, fall[p].rate), rise[p].latency + fall[p].latency};
        if (crosses) {
            Share const middle = core(from_node, to_node, p);
            share = {std::min(share.rate, middle.rate), share.latency + middle.latency};
        }
        if (share.rate > Rate{}) all = combine(all, share, ++used);
    }
    return all;
}

}  // namespace orrery
