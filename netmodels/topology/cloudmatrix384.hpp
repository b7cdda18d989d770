// SPDX-License-Identifier: Apache-2.0
// Huawei CloudMatrix384: super-nodes of dies under two levels of UB switches in disjoint sub-planes, joined by RDMA.
//
// Counts, rates and latencies: arXiv:2506.12708, arXiv:2508.02520, arXiv:2607.26444; docs/fabrics.md says which of
// them are published and which are inferred, and derives the striping rule and every formula used here.
// cloudmatrix384.cpp builds and routes, ..._striping.cpp prices striped transfers, ..._describe.cpp names and counts.
#pragma once

#include "netmodels/topology/built_fabric.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

namespace scenario {
class CloudMatrix384;
}  // namespace scenario

class CloudMatrix384Fabric final : public BuiltFabric {
  public:
    explicit CloudMatrix384Fabric(scenario::CloudMatrix384 const& spec);

    std::string kind() const override { return "cloudmatrix384"; }
    FabricFigures figures() const override;
    Route route(RankId source, RankId target) const override;

    std::string link_name(LinkId link) const override {
        Place const p = place(link.value(), links_per_supernode_, first_link_, link_counts_);
        return name(p.supernode, p.of, p.index / width_[p.of], p.index % width_[p.of]);
    }
    // Also a pattern that matches exactly the members of the bundle.
    std::string bundle_name(BundleId bundle) const override {
        Place const p = place(bundle.value(), bundles_per_supernode_, first_bundle_, items_);
        return name(p.supernode, p.of, p.index, width_[p.of] == 1 ? 0 : any);
    }
    std::string node_name(NodeId id) const override;
    std::uint32_t ranks_per_block() const override { return node_dies_; }
    std::string rank_name(RankId rank) const override {
        std::uint32_t const r = rank.value();
        return fmt::format("super-node {}, node {}, NPU {}, die {}", r / dies_, r / node_dies_ % nodes_per_supernode_,
                           r / npu_dies_ % npus_, r % npu_dies_);
    }

  protected:
    void refresh() override;

  private:
    // Link classes in the order of a super-node's tables; up is even, down is up + 1.
    enum Class : std::uint16_t {
        die_up,
        die_down,
        node_up,
        node_down,
        cpu_up,
        cpu_down,
        rdma_up,
        rdma_down,
        vpc_up,
        vpc_down,
        super_up,
        super_down,
        sio,
        class_count
    };
    enum class Striping : std::uint8_t { adaptive, even };

    template <class T>
    using PerClass = std::array<T, class_count>;

    static constexpr std::uint32_t any = ~0U;  // as a member number in name(): '*'

    struct Place {
        std::uint32_t supernode, index;
        Class of;
    };
    // What a transfer gets of one sub-plane or of all that are left.
    struct Share {
        Rate rate;
        Time latency;
    };
    // The links of one node in one direction within one sub-plane.
    struct Trunk {
        Share share;
        Rate slowest, fastest;  // of its links, dead ones included
        bool one_latency = true;
    };
    // Only in a degraded fabric, so that a route looks at nothing but what is not as built: a bit per sub-plane, two
    // words (up, down) per die and per node; trunks by node, direction and sub-plane.
    struct Damage {
        std::vector<std::uint64_t> dies, nodes;
        std::vector<Trunk> trunks;
    };

    void build();
    Link ends(std::uint32_t supernode, Class of, std::uint32_t item, std::uint32_t member) const;
    std::string name(std::uint32_t supernode, Class of, std::uint32_t item, std::uint32_t member) const;
    Rate nominal(Class of, std::uint32_t member) const {
        return of == cpu_up || of == cpu_down ? cpu_link_rate(member) : rate_[of];
    }
    // An even split in integers: the links of a CPU differ by at most 1 b/s and sum to its rate.
    Rate cpu_link_rate(std::uint32_t p) const {
        auto const upto = [&](std::uint32_t n) { return static_cast<Int128>(cpu_rate_.bits_per_s()) * n / subplanes_; };
        return Rate::from_bits_per_s(static_cast<std::int64_t>(upto(p + 1) - upto(p)));
    }

    std::uint32_t link(std::uint32_t supernode, Class of, std::uint32_t item) const {
        return supernode * links_per_supernode_ + first_link_[of] + item * width_[of];
    }
    std::uint32_t bundle(std::uint32_t supernode, Class of, std::uint32_t item) const {
        return supernode * bundles_per_supernode_ + first_bundle_[of] + item;
    }
    static Place place(std::uint32_t id, std::uint32_t per_supernode, PerClass<std::uint32_t> const& first,
                       PerClass<std::uint32_t> const& counts) {
        std::uint32_t const rest = id % per_supernode;
        auto of = die_up;
        while (rest >= first[of] + counts[of]) of = static_cast<Class>(of + 1);
        return {id / per_supernode, rest - first[of], of};
    }
    // Which of a package's ordered pairs of dies: die `from` times its partners, itself skipped.
    std::uint32_t sio_item(std::uint32_t from, std::uint32_t to) const {
        std::uint32_t const a = from % npu_dies_, b = to % npu_dies_;
        return from * (npu_dies_ - 1) + (b < a ? b : b - 1);
    }
    std::uint32_t sio_target(std::uint32_t item) const {
        std::uint32_t const from = item / (npu_dies_ - 1), b = item % (npu_dies_ - 1), a = from % npu_dies_;
        return from - a + (b < a ? b : b + 1);
    }

    void refresh_striped(Bundle& bundle);
    void refresh_damage();
    void refresh_offered();
    Share combine(Share all, Share subplane, std::uint32_t used) const;
    Share subplane_of(Link const* links, std::uint32_t count) const;
    Trunk trunk_of(Link const* links) const;
    Share core(std::uint32_t from_node, std::uint32_t to_node, std::uint32_t p) const;
    Share striped(std::uint32_t source, std::uint32_t target) const;
    [[noreturn]] void refuse(RankId source, RankId target, Route const& route) const;

    std::uint32_t supernodes_, nodes_per_supernode_, npus_, npu_dies_, cpus_, subplanes_, l2_chips_;
    std::uint32_t node_dies_, dies_;  // per node, per super-node
    Striping striping_;
    Rate cpu_rate_;
    double rdma_oversubscription_;
    Time endpoint_latency_, cross_node_extra_;

    PerClass<std::uint32_t> items_{}, width_{}, link_counts_{}, first_link_{}, first_bundle_{};  // per super-node
    PerClass<Rate> rate_{};
    PerClass<Time> latency_{};
    std::uint32_t links_per_supernode_ = 0, bundles_per_supernode_ = 0, others_per_supernode_ = 0;

    bool degraded_ = false;
    Damage damage_;
};

}  // namespace orrery
