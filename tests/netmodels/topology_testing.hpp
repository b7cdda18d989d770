// SPDX-License-Identifier: Apache-2.0
// For tests of fabrics: fully resolved specifications with the schema's defaults, and checks any fabric must pass.
#pragma once

#include "netmodels/topology/fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::testing {

using namespace orrery::literals;

inline std::int64_t giga_bytes(double rate) {
    return static_cast<std::int64_t>(rate * 8e9);
}

// Sets every field that is not set yet to its documented default, as the scenario loader does.
inline scenario::FabricSpec cloudmatrix(scenario::CloudMatrix384 given = {}) {
    scenario::CloudMatrix384 d;
    d.set_supernodes(1);
    d.set_nodes(48);
    d.set_npus_per_node(8);
    d.set_dies_per_npu(2);
    d.set_cpus_per_node(4);
    d.set_subplanes(7);
    d.set_l2_chips_per_subplane(16);
    d.set_die_link_rate(giga_bytes(28));
    d.set_cpu_rate(giga_bytes(160));
    d.set_l1_l2_link_rate(giga_bytes(28));
    d.set_sio_rate(giga_bytes(270));
    d.set_same_package_latency((200_ns).ps());
    d.set_endpoint_latency((530_ns).ps());
    d.set_switch_latency((150_ns).ps());
    d.set_short_link_latency((10_ns).ps());
    d.set_l1_l2_link_latency((50_ns).ps());
    d.set_cross_node_extra_latency((1_us).ps());
    d.set_striping("adaptive");
    d.mutable_rdma()->set_die_rate(200'000'000'000);
    d.mutable_rdma()->set_efficiency(0.93);
    d.mutable_rdma()->set_latency((5_us).ps());
    d.mutable_rdma()->set_oversubscription(1);
    d.mutable_vpc()->set_node_rate(400'000'000'000);
    d.mutable_vpc()->set_latency((10_us).ps());
    d.MergeFrom(given);
    scenario::FabricSpec spec;
    spec.set_kind("cloudmatrix384");
    *spec.mutable_cloudmatrix384() = d;
    return spec;
}

inline scenario::FabricSpec leaf_spine(scenario::LeafSpine given = {}) {
    scenario::LeafSpine d;
    d.set_hosts(64);
    d.set_hosts_per_leaf(8);
    d.set_spines(8);
    d.set_host_rate(400'000'000'000);
    d.set_oversubscription(1);
    d.set_link_latency((500_ns).ps());
    d.set_switch_latency(0);
    d.set_load_balancing("spray");
    d.MergeFrom(given);
    scenario::FabricSpec spec;
    spec.set_kind("leaf_spine");
    *spec.mutable_leaf_spine() = d;
    return spec;
}

inline scenario::FabricSpec single_switch(std::uint32_t hosts) {
    scenario::FabricSpec spec;
    spec.set_kind("single_switch");
    auto& d = *spec.mutable_single_switch();
    d.set_hosts(hosts);
    d.set_host_rate(400'000'000'000);
    d.set_link_latency((500_ns).ps());
    d.set_switch_latency(0);
    return spec;
}

inline Degradation down(std::string pattern) {
    return {.pattern = std::move(pattern), .rate_factor = 1, .extra_latency = {}, .down = true, .where = "test"};
}
inline Degradation slower(std::string pattern, double factor) {
    return {.pattern = std::move(pattern), .rate_factor = factor, .extra_latency = {}, .down = false, .where = "test"};
}
inline Degradation longer(std::string pattern, Time extra) {
    return {.pattern = std::move(pattern), .rate_factor = 1, .extra_latency = extra, .down = false, .where = "test"};
}

// The message of the InputError that `action` throws; empty when it throws none.
template <class Action>
std::string input_error(Action action) {
    try {
        action();
    } catch (InputError const& error) {
        return error.what();
    }
    return {};
}

// A fabric with lookups by name. Tests find links by what users call them, not by how a builder numbers them.
class NamedFabric {
  public:
    explicit NamedFabric(scenario::FabricSpec const& spec, std::uint64_t seed = 1) : fabric_(make_fabric(spec, seed)) {
        for (std::uint32_t i = 0; i < fabric_->links().size(); ++i) {
            bool const fresh = links_.emplace(fabric_->link_name(LinkId{i}), LinkId{i}).second;
            EXPECT_TRUE(fresh) << "two links are called " << fabric_->link_name(LinkId{i});
        }
        for (std::uint32_t i = 0; i < fabric_->bundles().size(); ++i) {
            bool const fresh = bundles_.emplace(fabric_->bundle_name(BundleId{i}), BundleId{i}).second;
            EXPECT_TRUE(fresh) << "two bundles are called " << fabric_->bundle_name(BundleId{i});
        }
        for (std::uint32_t i = 0; i < fabric_->nodes().size(); ++i) {
            bool const fresh = nodes_.emplace(fabric_->node_name(NodeId{i}), NodeId{i}).second;
            EXPECT_TRUE(fresh) << "two nodes are called " << fabric_->node_name(NodeId{i});
        }
    }
    Fabric* operator->() const { return fabric_.get(); }
    Fabric& operator*() const { return *fabric_; }
    Link const& link(std::string const& name) const { return fabric_->links()[links_.at(name).index()]; }
    Bundle const& bundle(std::string const& name) const { return fabric_->bundles()[bundles_.at(name).index()]; }
    NodeId node(std::string const& name) const { return nodes_.at(name); }
    std::vector<std::int64_t> degrade(std::vector<Degradation> const& list) { return fabric_->degrade(list).links; }
    Route route(std::uint32_t a, std::uint32_t b) const { return fabric_->route(RankId{a}, RankId{b}); }

  private:
    std::unique_ptr<Fabric> fabric_;
    std::map<std::string, LinkId> links_;
    std::map<std::string, BundleId> bundles_;
    std::map<std::string, NodeId> nodes_;
};

// Follows a route over physical links: every member of a bundle starts where the bundles before it arrive.
inline void expect_connected(Fabric const& fabric, RankId source, RankId target) {
    Route const route = fabric.route(source, target);
    std::set<NodeId> at;
    for (std::uint32_t i = 0; i < fabric.nodes().size() && at.empty(); ++i)
        if (fabric.nodes()[i].rank == source) at.insert(NodeId{i});
    for (BundleId const id : route.bundles()) {
        Bundle const& bundle = fabric.bundles()[id.index()];
        EXPECT_EQ(bundle.domain, route.domain) << fabric.bundle_name(id);
        std::set<NodeId> next;
        for (LinkId const member : fabric.members().subspan(bundle.first_member, bundle.member_count)) {
            Link const& link = fabric.links()[member.index()];
            EXPECT_TRUE(at.contains(link.from)) << fabric.link_name(member) << " starts elsewhere";
            next.insert(link.to);
        }
        at = std::move(next);
    }
    ASSERT_EQ(at.size(), 1U);
    EXPECT_EQ(fabric.nodes()[at.begin()->index()].rank, target);
}

// What holds for every fabric: each link in one bundle, full duplex, and bundle names that are patterns of the members.
inline void expect_well_formed(Fabric& fabric) {
    std::vector<int> seen(fabric.links().size(), 0);
    std::map<std::pair<NodeId, NodeId>, int> balance;
    std::vector<Degradation> patterns;
    for (std::uint32_t b = 0; b < fabric.bundles().size(); ++b) {
        Bundle const& bundle = fabric.bundles()[b];
        ASSERT_LT(bundle.domain.value(), fabric.domain_count());
        ASSERT_LT(bundle.link_class, fabric.link_classes().size());
        for (LinkId const id : fabric.members().subspan(bundle.first_member, bundle.member_count)) {
            EXPECT_EQ(fabric.links()[id.index()].bundle, BundleId{b});
            ++seen[id.index()];
        }
        patterns.push_back(slower(fabric.bundle_name(BundleId{b}), 1));
    }
    for (int const count : seen) EXPECT_EQ(count, 1);
    for (Link const& link : fabric.links()) {
        ++balance[{link.from, link.to}];
        --balance[{link.to, link.from}];
    }
    for (auto const& [ends, difference] : balance) EXPECT_EQ(difference, 0) << "one direction is missing";
    auto const matched = fabric.degrade(patterns).links;
    for (std::uint32_t b = 0; b < fabric.bundles().size(); ++b)
        EXPECT_EQ(matched[b], fabric.bundles()[b].member_count) << patterns[b].pattern;
}

}  // namespace orrery::testing
