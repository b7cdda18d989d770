// SPDX-License-Identifier: Apache-2.0
// A ring of switches around which credits can deadlock, and its diagnosis.
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "netmodels/topology/built_fabric.hpp"

#include <gmock/gmock.h>

namespace orrery::testing {
namespace {

using namespace orrery::literals;

// Switches 0 .. 3 in a one-way ring, one host at each; a host's messages go two switches on.
class RingFabric final : public BuiltFabric {
  public:
    static constexpr std::uint32_t size = 4;

    RingFabric() {
        rank_count_ = size;
        reserve(2 * size, 3 * size, 3 * size);
        link_classes_ = {{"up", "fabric"}, {"down", "fabric"}, {"ring", "fabric"}};
        for (std::uint32_t h = 0; h < size; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
        for (std::uint32_t s = 0; s < size; ++s) add_node(NodeKind::switch_chip, 1);
        auto const domain = add_domain("ring");
        for (std::uint32_t i = 0; i < size; ++i) {
            auto const next = (i + 1) % size;
            open_bundle(0, domain), add_link(NodeId{i}, NodeId{size + i}, 400_Gbps, 500_ns);
            open_bundle(1, domain), add_link(NodeId{size + i}, NodeId{i}, 400_Gbps, 500_ns);
            open_bundle(2, domain), add_link(NodeId{size + i}, NodeId{size + next}, 400_Gbps, 500_ns);
        }
        refresh();
    }
    std::string kind() const override { return "ring"; }
    FabricFigures figures() const override { return {}; }
    Route route(RankId source, RankId target) const override {
        Route route;
        route.domain = DomainId{0};
        route.cap = 400_Gbps;
        route.hops[route.hop_count++] = BundleId{3 * source.value()};
        for (auto at = source.value(); at != target.value(); at = (at + 1) % size)
            route.hops[route.hop_count++] = BundleId{3 * at + 2};
        route.hops[route.hop_count++] = BundleId{3 * target.value() + 1};
        return route;
    }
    std::string link_name(LinkId link) const override {
        return fmt::format("{}{}", link_classes_[link.value() % 3].name, link.value() / 3);
    }
    std::string bundle_name(BundleId bundle) const override { return link_name(LinkId{bundle.value()}); }
    std::string node_name(NodeId node) const override { return fmt::format("n{}", node.value()); }
    std::uint32_t ranks_per_block() const override { return 1; }
    std::string rank_name(RankId rank) const override { return fmt::format("host {}", rank.value()); }

  protected:
    void refresh() override {
        for (auto& bundle : bundles_) refresh_bundle(bundle);
    }
};

TEST(PacketDeadlock, ACycleOfFullBuffersIsNamed) {
    RingFabric const fabric;
    DomainMap const map(fabric);
    PacketSettings settings;
    settings.lossless = Lossless::credit;
    settings.port_buffer = 2 * 4096;
    PacketFabric const compiled(fabric, map, DomainId{0}, settings);
    auto const network = make_packet_network(compiled, map, settings);
    for (std::uint32_t host = 0; host < RingFabric::size; ++host)
        network->offer({.source = RankId{host},
                        .target = RankId{(host + 2) % RingFabric::size},
                        .offered = {},
                        .bytes = 64 * 4096,
                        .cookie = host,
                        .pace = {}});
    LocalExchange alone;
    PacketLoop(*network, alone, compiled.lookahead()).run();
    EXPECT_EQ(network->starved().size(), 4U);
    EXPECT_GT(network->in_flight(), 0);
    auto const c = network->counters();
    EXPECT_EQ(c.injected, c.delivered + c.dropped + network->in_flight());
    EXPECT_THAT(network->diagnosis(), ::testing::HasSubstr("deadlock"));
    for (auto const* link : {"ring0", "ring1", "ring2", "ring3"})
        EXPECT_THAT(network->diagnosis(), ::testing::HasSubstr(link));
}

}  // namespace
}  // namespace orrery::testing
