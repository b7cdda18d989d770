// SPDX-License-Identifier: Apache-2.0
// A one-way ring of switches, for tests: routes as long as wished, and buffers that wait for each other in a circle.
#pragma once

#include "netmodels/topology/built_fabric.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace orrery::testing {

// Host h is at switch h; `parallel` links of 400 Gb/s and 500 ns lead from each switch to the next.
class RingFabric final : public BuiltFabric {
  public:
    explicit RingFabric(std::uint32_t size, std::uint32_t parallel = 1) : size_(size), parallel_(parallel) {
        using namespace orrery::literals;
        rank_count_ = size;
        reserve(2 * size, (2 + parallel) * size, 3 * size);
        link_classes_ = {{"up", "fabric"}, {"down", "fabric"}, {"ring", "fabric"}};
        for (std::uint32_t h = 0; h < size; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
        for (std::uint32_t s = 0; s < size; ++s) add_node(NodeKind::switch_chip, 1);
        auto const domain = add_domain("ring");
        for (std::uint32_t i = 0; i < size; ++i) {
            auto const next = (i + 1) % size;
            open_bundle(0, domain), add_link(NodeId{i}, NodeId{size + i}, 400_Gbps, 500_ns);
            open_bundle(1, domain), add_link(NodeId{size + i}, NodeId{i}, 400_Gbps, 500_ns);
            open_bundle(2, domain);
            for (std::uint32_t p = 0; p < parallel; ++p)
                add_link(NodeId{size + i}, NodeId{size + next}, 400_Gbps, 500_ns);
        }
        for (auto& bundle : bundles_) refresh_bundle(bundle);
    }
    std::string kind() const override { return "ring"; }
    FabricFigures figures() const override {
        FabricFigures figures;
        figures.diameter_hops = size_ + 1;
        return figures;
    }
    Route route(RankId source, RankId target) const override {
        using namespace orrery::literals;
        Route route;
        route.domain = DomainId{0};
        route.cap = 400_Gbps;
        route.hops[route.hop_count++] = BundleId{3 * source.value()};
        for (auto at = source.value(); at != target.value(); at = (at + 1) % size_)
            route.hops[route.hop_count++] = BundleId{3 * at + 2};
        route.hops[route.hop_count++] = BundleId{3 * target.value() + 1};
        return route;
    }
    // "ring2" is the link out of switch 2, "ring2.1" the second of several.
    std::string link_name(LinkId link) const override {
        auto const at = link.value() / (2 + parallel_), which = link.value() % (2 + parallel_);
        auto const name = fmt::format("{}{}", link_classes_[which < 2 ? which : 2].name, at);
        return which <= 2 ? name : fmt::format("{}.{}", name, which - 2);
    }
    std::string bundle_name(BundleId bundle) const override {
        return fmt::format("{}{}", link_classes_[bundle.value() % 3].name, bundle.value() / 3);
    }
    std::string node_name(NodeId node) const override { return fmt::format("n{}", node.value()); }
    std::uint32_t ranks_per_block() const override { return 1; }
    std::string rank_name(RankId rank) const override { return fmt::format("host {}", rank.value()); }

  protected:
    void refresh() override {
        for (auto& bundle : bundles_) refresh_bundle(bundle);
    }

  private:
    std::uint32_t size_, parallel_;
};

}  // namespace orrery::testing
