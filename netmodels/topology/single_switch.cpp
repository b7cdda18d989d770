// SPDX-License-Identifier: Apache-2.0
// Hosts around one non-blocking switch: the smallest fabric with contention, at its ports.
#include "core/check.hpp"
#include "netmodels/topology/built_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>

namespace orrery {
namespace {

class SingleSwitchFabric final : public BuiltFabric {
  public:
    explicit SingleSwitchFabric(scenario::SingleSwitch const& spec)
        : rate_(Rate::from_bits_per_s(spec.host_rate())), digits_(digits_for(spec.hosts())) {
        ORRERY_VALIDATE(spec.hosts() > 0 && rate_ > Rate{}, "fabric.single_switch has {} hosts at {} (needs both)",
                        spec.hosts(), to_string(rate_));
        rank_count_ = spec.hosts();
        reserve(rank_count_ + 1ULL, 2ULL * rank_count_, 2ULL * rank_count_);
        link_classes_ = {{"host.up", "fabric"}, {"host.down", "fabric"}};
        for (std::uint32_t h = 0; h < rank_count_; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
        NodeId const hub = add_node(NodeKind::switch_chip, 1);
        DomainId const domain = add_domain("switch");
        Time const wire = Time::from_ps(spec.link_latency());
        Time const pipeline = Time::from_ps(spec.switch_latency());
        // Bundle and link 2h go up from host h, 2h + 1 down to it.
        for (std::uint32_t h = 0; h < rank_count_; ++h) {
            open_bundle(0, domain);
            add_link(NodeId{h}, hub, rate_, wire + pipeline);
            open_bundle(1, domain);
            add_link(hub, NodeId{h}, rate_, wire);
        }
        healthy_latency_ = wire * 2 + pipeline;
        refresh();
    }

    std::string kind() const override { return "single_switch"; }

    FabricFigures figures() const override {
        FabricFigures f;
        f.ranks = rank_count_;
        f.switches = 1;
        f.links = static_cast<std::int64_t>(links_.size());
        f.diameter_hops = rank_count_ > 1 ? 2 : 0;
        f.bisection = saturating_times(rate_, rank_count_ / 2);
        f.classes = count_classes(std::array{rate_, rate_});
        if (rank_count_ > 1) f.paths = {{"hosts", 1, 2, healthy_latency_}};
        return f;
    }

    Route route(RankId source, RankId target) const override {
        ORRERY_EXPECT(source != target && source.value() < rank_count_ && target.value() < rank_count_);
        BundleId const up{2 * source.value()}, down{2 * target.value() + 1};
        Bundle const& first = bundles_[up.index()];
        Bundle const& last = bundles_[down.index()];
        Route route;
        route.hops[0] = up;
        route.hops[1] = down;
        route.hop_count = 2;
        route.latency = first.latency + last.latency;
        route.domain = DomainId{0};
        route.cap = std::min(first.capacity, last.capacity);
        ORRERY_VALIDATE(route.cap > Rate{}, "no path from {} to {} ({} is down); take it out of fabric.degrade",
                        node_name(NodeId{source.value()}), node_name(NodeId{target.value()}),
                        bundle_name(first.capacity == Rate{} ? up : down));
        return route;
    }

    std::string link_name(LinkId link) const override {
        return host(link.value() / 2).text(link.value() % 2 == 0 ? "-switch.up" : "-switch.down").take();
    }
    std::string bundle_name(BundleId bundle) const override { return link_name(LinkId{bundle.value()}); }
    std::string node_name(NodeId node) const override {
        return node.value() == rank_count_ ? "switch" : host(node.value()).take();
    }
    std::uint32_t ranks_per_block() const override { return 1; }
    std::string rank_name(RankId rank) const override { return fmt::format("host {}", rank.value()); }

  protected:
    // Every bundle ends at a host, so none is ever left out: `offered` stays unlimited.
    void refresh() override {
        for (Bundle& bundle : bundles_) refresh_bundle(bundle);
    }

  private:
    NameWriter host(std::uint32_t number) const {
        NameWriter writer;
        writer.text("h").number(number, digits_);
        return writer;
    }

    Rate rate_;
    Time healthy_latency_;
    std::uint32_t digits_;
};

FabricRegistration const registered{"single_switch",
                                    [](scenario::FabricSpec const& spec, std::uint64_t) -> std::unique_ptr<Fabric> {
                                        return std::make_unique<SingleSwitchFabric>(spec.single_switch());
                                    }};

}  // namespace
}  // namespace orrery
