// SPDX-License-Identifier: Apache-2.0
// Two switch levels: every leaf has one link to every spine; transfers are sprayed over the spines or hashed to one.
#include "core/check.hpp"
#include "core/random.hpp"
#include "netmodels/topology/built_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <algorithm>

namespace orrery {
namespace {

enum Class : std::uint16_t { host_up, host_down, leaf_up, leaf_down };
enum class Balancing : std::uint8_t { spray, ecmp };

class LeafSpineFabric final : public BuiltFabric {
  public:
    LeafSpineFabric(scenario::LeafSpine const& spec, std::uint64_t seed)
        : seed_(seed),
          per_leaf_(spec.hosts_per_leaf()),
          spines_(spec.spines()),
          balancing_(spec.load_balancing() == "ecmp" ? Balancing::ecmp : Balancing::spray),
          host_rate_(Rate::from_bits_per_s(spec.host_rate())) {
        ORRERY_VALIDATE(spec.load_balancing() == "ecmp" || spec.load_balancing() == "spray",
                        "fabric.leaf_spine.load_balancing is '{}' (unknown); use spray or ecmp", spec.load_balancing());
        ORRERY_VALIDATE(spec.hosts() > 0 && per_leaf_ > 0 && spec.hosts() % per_leaf_ == 0,
                        "fabric.leaf_spine.hosts is {} (not a multiple of hosts_per_leaf {}); use {} or {}",
                        spec.hosts(), per_leaf_, spec.hosts() / std::max(per_leaf_, 1U) * per_leaf_,
                        (spec.hosts() / std::max(per_leaf_, 1U) + 1) * per_leaf_);
        ORRERY_VALIDATE(spines_ > 0, "fabric.leaf_spine.spines is 0 (leaves would not be joined); use 1 or more");
        rank_count_ = spec.hosts();
        leaves_ = rank_count_ / per_leaf_;
        spine_rate_ = divided(saturating_times(host_rate_, per_leaf_), spec.oversubscription() * spines_);
        ORRERY_VALIDATE(host_rate_ > Rate{} && spine_rate_ > Rate{},
                        "a leaf-spine link would carry {} (host_rate {}, oversubscription {}); raise the rate",
                        to_string(spine_rate_), to_string(host_rate_), spec.oversubscription());
        Time const wire = Time::from_ps(spec.link_latency());
        Time const pipeline = Time::from_ps(spec.switch_latency());
        host_up_latency_ = core_latency_ = wire + pipeline;
        host_down_latency_ = wire;
        build();
        refresh();
    }

    std::string kind() const override { return "leaf_spine"; }
    FabricFigures figures() const override;
    Route route(RankId source, RankId target) const override;

    std::string link_name(LinkId link) const override {
        std::uint32_t const id = link.value();
        if (id < 2 * rank_count_) return host_link_name(id);
        std::uint32_t const i = id - 2 * rank_count_;
        return core_name(i / (2 * spines_))
            .number(i % spines_, digits_for(spines_))
            .text(i / spines_ % 2 == 0 ? ".up" : ".down")
            .take();
    }
    // Also a pattern that matches exactly the members of the bundle.
    std::string bundle_name(BundleId bundle) const override {
        std::uint32_t const id = bundle.value();
        if (id < 2 * rank_count_) return host_link_name(id);
        if (balancing_ == Balancing::ecmp) return link_name(LinkId{id});
        std::uint32_t const i = id - 2 * rank_count_;
        return core_name(i / 2).text(i % 2 == 0 ? "*.up" : "*.down").take();
    }
    std::string node_name(NodeId node) const override {
        std::uint32_t const id = node.value();
        NameWriter name;
        if (id < rank_count_) return name.text("h").number(id, digits_for(rank_count_)).take();
        if (id < rank_count_ + leaves_) return name.text("leaf").number(id - rank_count_, digits_for(leaves_)).take();
        return name.text("spine").number(id - rank_count_ - leaves_, digits_for(spines_)).take();
    }
    std::uint32_t ranks_per_block() const override { return per_leaf_; }
    std::string rank_name(RankId rank) const override {
        return fmt::format("leaf {}, host {}", rank.value() / per_leaf_, rank.value());
    }

  protected:
    void refresh() override;

  private:
    struct CoreUse {
        Rate rate;
        Time latency;
    };

    void build() {
        std::uint64_t const core_links = 2ULL * leaves_ * spines_;
        reserve(0ULL + rank_count_ + leaves_ + spines_, 2ULL * rank_count_ + core_links,
                2ULL * rank_count_ + (balancing_ == Balancing::ecmp ? core_links : 2ULL * leaves_));
        link_classes_ = {
            {"host.up", "fabric"}, {"host.down", "fabric"}, {"leaf.up", "fabric"}, {"leaf.down", "fabric"}};
        for (std::uint32_t h = 0; h < rank_count_; ++h) add_node(NodeKind::endpoint, 0, RankId{h});
        for (std::uint32_t l = 0; l < leaves_; ++l) add_node(NodeKind::switch_chip, 1);
        for (std::uint32_t s = 0; s < spines_; ++s) add_node(NodeKind::switch_chip, 2);
        DomainId const domain = add_domain("leaf-spine");
        for (std::uint32_t h = 0; h < rank_count_; ++h) {
            open_bundle(host_up, domain);
            add_link(NodeId{h}, leaf(h / per_leaf_), host_rate_, host_up_latency_);
            open_bundle(host_down, domain);
            add_link(leaf(h / per_leaf_), NodeId{h}, host_rate_, host_down_latency_);
        }
        for (std::uint32_t l = 0; l < leaves_; ++l) {
            for (auto const direction : {leaf_up, leaf_down}) {
                for (std::uint32_t s = 0; s < spines_; ++s) {
                    if (s == 0 || balancing_ == Balancing::ecmp) open_bundle(direction, domain);
                    NodeId const spine{rank_count_ + leaves_ + s};
                    bool const up = direction == leaf_up;
                    add_link(up ? leaf(l) : spine, up ? spine : leaf(l), spine_rate_, core_latency_);
                }
            }
        }
    }

    NodeId leaf(std::uint32_t number) const { return NodeId{rank_count_ + number}; }
    std::uint32_t first_core_link(std::uint32_t leaf_number, Class direction) const {
        return 2 * rank_count_ + (2 * leaf_number + (direction == leaf_down ? 1 : 0)) * spines_;
    }
    std::uint32_t core_bundle(std::uint32_t leaf_number, Class direction, std::uint32_t spine) const {
        if (balancing_ == Balancing::ecmp) return first_core_link(leaf_number, direction) + spine;
        return 2 * (rank_count_ + leaf_number) + (direction == leaf_down ? 1 : 0);
    }
    std::string host_link_name(std::uint32_t id) const {
        std::uint32_t const host = id / 2;
        return NameWriter{}
            .text("h")
            .number(host, digits_for(rank_count_))
            .text("-leaf")
            .number(host / per_leaf_, digits_for(leaves_))
            .text(id % 2 == 0 ? ".up" : ".down")
            .take();
    }
    NameWriter core_name(std::uint32_t leaf_number) const {
        NameWriter name;
        name.text("leaf").number(leaf_number, digits_for(leaves_)).text("-spine");
        return name;
    }
    bool usable(std::uint32_t from, std::uint32_t to, std::uint32_t spine) const {
        return links_[first_core_link(from, leaf_up) + spine].rate > Rate{} &&
               links_[first_core_link(to, leaf_down) + spine].rate > Rate{};
    }
    // What a sprayed transfer gets between two leaves: through spine s the slower of its two links.
    CoreUse sprayed(std::uint32_t from, std::uint32_t to) const;
    // The spine of a pair: a hash over those that still join the two leaves; spines() when there is none.
    std::uint32_t hashed_spine(RankId source, RankId target, std::uint32_t from, std::uint32_t to) const;
    [[noreturn]] void refuse(RankId source, RankId target) const;

    std::uint64_t seed_;
    std::uint32_t per_leaf_, spines_, leaves_ = 0;
    Balancing balancing_;
    Rate host_rate_, spine_rate_;
    Time host_up_latency_, host_down_latency_, core_latency_;
    bool core_degraded_ = false;
};

void LeafSpineFabric::refresh() {
    core_degraded_ = false;
    for (Bundle& bundle : bundles_) refresh_bundle(bundle);
    for (Link const& link : links().subspan(2ULL * rank_count_))
        core_degraded_ = core_degraded_ || link.rate != spine_rate_ || link.latency != core_latency_;

    // Host bundles bound what the core can be offered, and are never left out themselves.
    std::vector<Rate> up(leaves_), down(leaves_);
    for (std::uint32_t h = 0; h < rank_count_; ++h) {
        up[h / per_leaf_] = saturating_add(up[h / per_leaf_], bundles_[2 * h].capacity);
        down[h / per_leaf_] = saturating_add(down[h / per_leaf_], bundles_[2 * h + 1].capacity);
    }
    Rate all_up, all_down;
    for (std::uint32_t l = 0; l < leaves_; ++l) {
        all_up = saturating_add(all_up, up[l]);
        all_down = saturating_add(all_down, down[l]);
    }
    for (std::uint32_t l = 0; l < leaves_; ++l) {
        for (std::uint32_t s = 0; s < (balancing_ == Balancing::ecmp ? spines_ : 1); ++s) {
            bundles_[core_bundle(l, leaf_up, s)].offered = std::min(up[l], saturating_subtract(all_down, down[l]));
            bundles_[core_bundle(l, leaf_down, s)].offered = std::min(saturating_subtract(all_up, up[l]), down[l]);
        }
    }
}

LeafSpineFabric::CoreUse LeafSpineFabric::sprayed(std::uint32_t from, std::uint32_t to) const {
    if (!core_degraded_) return {saturating_times(spine_rate_, spines_), core_latency_ * 2};
    CoreUse use;
    Link const* const up = &links_[first_core_link(from, leaf_up)];
    Link const* const down = &links_[first_core_link(to, leaf_down)];
    for (std::uint32_t s = 0; s < spines_; ++s) {
        Rate const rate = std::min(up[s].rate, down[s].rate);
        if (rate == Rate{}) continue;
        use.rate = saturating_add(use.rate, rate);
        use.latency = std::max(use.latency, up[s].latency + down[s].latency);
    }
    return use;
}

std::uint32_t LeafSpineFabric::hashed_spine(RankId source, RankId target, std::uint32_t from, std::uint32_t to) const {
    std::uint64_t const pair = static_cast<std::uint64_t>(source.value()) << 32 | target.value();
    std::uint64_t const draw = philox(seed_, RandomStream::ecmp, pair, from)[0];  // each leaf hashes differently
    if (!core_degraded_) return static_cast<std::uint32_t>(draw * spines_ >> 32);
    std::uint32_t count = 0;
    for (std::uint32_t s = 0; s < spines_; ++s) count += usable(from, to, s) ? 1 : 0;
    if (count == 0) return spines_;
    auto left = static_cast<std::uint32_t>(draw * count >> 32);
    for (std::uint32_t s = 0;; ++s)
        if (usable(from, to, s) && left-- == 0) return s;
}

Route LeafSpineFabric::route(RankId source, RankId target) const {
    ORRERY_EXPECT(source != target && source.value() < rank_count_ && target.value() < rank_count_);
    BundleId const up{2 * source.value()}, down{2 * target.value() + 1};
    Bundle const& first = bundles_[up.index()];
    Bundle const& last = bundles_[down.index()];
    Route route;
    route.domain = DomainId{0};
    route.latency = first.latency + last.latency;
    route.cap = std::min(first.capacity, last.capacity);
    route.hops[0] = up;
    std::uint32_t const from = source.value() / per_leaf_, to = target.value() / per_leaf_;
    if (from == to) {
        route.hops[1] = down;
        route.hop_count = 2;
    } else {
        CoreUse use;
        std::uint32_t spine = 0;
        if (balancing_ == Balancing::spray) {
            use = sprayed(from, to);
        } else if (spine = hashed_spine(source, target, from, to); spine < spines_) {
            Link const& rise = links_[first_core_link(from, leaf_up) + spine];
            Link const& fall = links_[first_core_link(to, leaf_down) + spine];
            use = {std::min(rise.rate, fall.rate), rise.latency + fall.latency};
        } else {
            refuse(source, target);
        }
        route.hops[1] = BundleId{core_bundle(from, leaf_up, spine)};
        route.hops[2] = BundleId{core_bundle(to, leaf_down, spine)};
        route.hops[3] = down;
        route.hop_count = 4;
        route.latency += use.latency;
        route.cap = std::min(route.cap, use.rate);
    }
    if (route.cap == Rate{}) [[unlikely]]
        refuse(source, target);
    return route;
}

void LeafSpineFabric::refuse(RankId source, RankId target) const {
    std::vector<std::string> dead;
    auto const name_if_down = [&](std::uint32_t link) {
        if (links_[link].rate == Rate{}) dead.push_back(link_name(LinkId{link}));
    };
    std::uint32_t const from = source.value() / per_leaf_, to = target.value() / per_leaf_;
    name_if_down(2 * source.value());
    name_if_down(2 * target.value() + 1);
    if (dead.empty()) {
        for (std::uint32_t s = 0; s < std::min(spines_, 8U); ++s) {
            name_if_down(first_core_link(from, leaf_up) + s);
            name_if_down(first_core_link(to, leaf_down) + s);
        }
        if (spines_ > 8) dead.emplace_back("...");
    }
    throw InputError(fmt::format("no path from {} to {} (down: {}); take one of them out of fabric.degrade",
                                 node_name(NodeId{source.value()}), node_name(NodeId{target.value()}),
                                 fmt::join(dead, ", ")));
}

FabricFigures LeafSpineFabric::figures() const {
    FabricFigures f;
    Rate const leaf_hosts = saturating_times(host_rate_, per_leaf_);
    Rate const leaf_core = saturating_times(spine_rate_, spines_);
    f.ranks = rank_count_;
    f.switches = leaves_ + spines_;
    f.links = static_cast<std::int64_t>(links_.size());
    f.diameter_hops = leaves_ > 1 ? 4 : rank_count_ > 1 ? 2 : 0;
    f.bisection = leaves_ > 1 ? saturating_times(std::min(leaf_hosts, leaf_core), leaves_ / 2)
                              : saturating_times(host_rate_, rank_count_ / 2);
    f.classes = count_classes(std::array{host_rate_, host_rate_, spine_rate_, spine_rate_});
    Time const near = host_up_latency_ + host_down_latency_;
    if (per_leaf_ > 1) f.paths.push_back({"hosts of one leaf", 1, 2, near});
    if (leaves_ > 1) f.paths.push_back({"hosts of two leaves", spines_, 4, near + core_latency_ * 2});
    f.tiers = {{"leaf to spines", leaf_hosts, leaf_core, ratio(leaf_hosts, leaf_core)}};
    return f;
}

FabricRegistration const registered{
    "leaf_spine", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        return std::make_unique<LeafSpineFabric>(spec.leaf_spine(), seed);
    }};

}  // namespace
}  // namespace orrery
