// SPDX-License-Identifier: Apache-2.0
// One domain of a fabric compiled for packets: a port per directed link, and who stands in for a bundle at a node.
#pragma once

#include "core/digest.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/long_routes.hpp"
#include "netmodels/packet/packet.hpp"
#include "netmodels/packet/packet_settings.hpp"
#include "netmodels/topology/fabric.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// What a packet needs of a port (half a cache line). The rate is that of the link, after degradation.
struct PortSpec {
    std::int64_t latency = 0;     // ps: wire + pipeline of the switch it enters
    std::int64_t rate = 0;        // b/s; zero: down
    std::uint32_t mtu_time = 0;   // ps to serialise a full packet
    std::uint32_t note_time = 0;  // ps to serialise an acknowledgement
    std::uint32_t to = 0;         // local node
    std::uint32_t bundle = 0;     // local bundle
};
static_assert(sizeof(PortSpec) == 32);

// The members of one bundle that start at one node.
struct PortGroup {
    std::uint32_t first = 0, count = 0;  // into ports, which stand in the order of groups
};

// Ports, nodes and bundles have local numbers; ports of one group are consecutive, so a packet finds its next port with
// two loads and arithmetic, whatever the size of the fabric.
class PacketFabric {
  public:
    static constexpr std::uint32_t most_hops = 64;
    static constexpr std::uint32_t carried_hops = 4;  // of a route that a packet carries whole
    static constexpr std::uint32_t no_node = ~0U;     // node_of() a rank of another domain

    PacketFabric(Fabric const& fabric, DomainMap const& map, DomainId domain, PacketSettings const& settings);

    std::uint32_t port_count() const { return static_cast<std::uint32_t>(ports_.size()); }
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
    PortSpec const& port(std::uint32_t p) const { return ports_[p]; }
    std::uint32_t from(std::uint32_t p) const { return from_[p]; }
    LinkId link(std::uint32_t p) const { return links_[p]; }
    NodeId node(std::uint32_t n) const { return nodes_[n]; }
    // Which local node a rank is; ranks without a link in this domain have none.
    std::uint32_t node_of(RankId rank) const { return node_of_rank_[rank.index()]; }
    bool is_endpoint(std::uint32_t n) const { return endpoint_[n] != 0; }
    // Does a switch wait for the whole packet before it sends the first bit on?
    bool holds(std::uint32_t n) const { return hold_[n] != 0; }
    std::int64_t hold_mask(std::uint32_t p) const { return hold_mask_[p]; }
    Fabric const& fabric() const { return *fabric_; }
    DomainId domain() const { return domain_; }
    std::uint32_t mtu() const { return mtu_; }
    bool mixed_rates() const { return mixed_rates_; }

    // The node that a bundle ends at, where all its links end at one: the last bundle of a route.
    std::uint32_t end_of(std::uint32_t bundle) const { return ports_[groups_[spans_[bundle].first_group].first].to; }
    // Where a packet carries a number of hops instead of a bundle: behind the bundles.
    std::uint32_t long_from() const { return static_cast<std::uint32_t>(spans_.size()); }
    // Hops to go behind the next link of a packet that waits for its departure at a switch or, `at_origin`, where it
    // is made; `left` and `hop2` as it carries them.
    std::uint32_t hops_behind(std::uint32_t left, std::uint32_t hop2, bool at_origin) const {
        if (hop2 >= long_from()) [[unlikely]]
            return hop2 - long_from() - 1;
        return left - (at_origin ? 0 : 1);
    }
    // The bundle that a packet takes while `left` hops are to go.
    std::uint32_t bundle(Heading const& heading, std::uint32_t left) const {
        if (heading.hop2 >= long_from()) [[unlikely]] {
            auto const hops = long_route(heading.origin, heading.last);
            return hops[hops.size() - left];
        }
        return left == 1 ? heading.last : left == 2 ? heading.hop2 : heading.hop1;
    }
    // A departure on a long route: what to take behind the link, and what to carry from there on.
    struct LongStep {
        std::uint32_t bundle = 0;  // behind the link
        std::uint32_t left = 0;    // hops to go then, `bundle` included
        std::uint32_t hop2 = 0;    // to be carried
    };
    LongStep long_step(std::uint32_t origin, std::uint32_t last, std::uint32_t hop2) const;

    // The live members of a bundle at a node; count 0: none is left.
    PortGroup group(std::uint32_t bundle, std::uint32_t node) const {
        auto const& span = spans_[bundle];
        auto const place = node - span.first_node;
        return place < span.nodes ? groups_[span.first_group + place] : PortGroup{};
    }
    // Can a packet with `left` hops to go behind `port` reach its target over it, with the links that are up at `now`?
    bool leads_on(std::uint32_t port, Heading const& heading, std::uint32_t left, std::int64_t now) const {
        return all_up() || leads_on_slowly(port, heading, left, now, When::now);
    }
    // The same with links that are down now and come back.
    bool will_lead_on(std::uint32_t port, Heading const& heading, std::uint32_t left, std::int64_t now) const {
        return all_up() || leads_on_slowly(port, heading, left, now, When::later);
    }
    bool all_up() const { return !any_down_ && !changes(); }

    // Links that change while the run goes on: at what rate and from when on, ps from the start of the run.
    static constexpr std::int64_t never = std::int64_t{1} << 60;
    bool changes() const { return !changes_.empty(); }
    std::int64_t rate_at(std::uint32_t port, std::int64_t now) const;
    // From when on, `now` at the earliest, the link is up; `never`.
    std::int64_t up_from(std::uint32_t port, std::int64_t now) const;

    // ceil(bytes * 8e12 / rate)
    std::int64_t serialisation(std::uint32_t port, std::uint32_t bytes) const {
        auto const& spec = ports_[port];
        if (bytes == mtu_) return spec.mtu_time;
        if (bytes == note_) return spec.note_time;
        return ceil_time(bytes, spec.rate);
    }
    static std::int64_t ceil_time(std::uint32_t bytes, std::int64_t rate) {
        auto const bits = static_cast<std::uint64_t>(bytes) * 8'000'000'000'000ULL;  // < 2^63 up to 1.1 MB
        auto const r = static_cast<std::uint64_t>(rate);
        return static_cast<std::int64_t>((bits + r - 1) / r);
    }

    // The widest window in which every node can be handled alone: the shortest link into a switch.
    Time lookahead() const { return lookahead_; }
    // The same, and narrow enough that what leaves for its target in a window arrives after it.
    Time prompt_lookahead() const { return prompt_lookahead_; }
    // Zero-load time from the first bit on the first link to the last bit at the target.
    Time zero_load(Route const& route, std::uint32_t bytes) const;

    // Nodes that should stay together: a block of ranks with the switches that only they use. Every other switch is a
    // tile of its own. By local node.
    std::vector<std::uint32_t> tiles() const;
    // Processes by tile: blocks of ranks in order, the other switches dealt. By local node.
    std::vector<std::uint32_t> deal(std::uint32_t processes) const;

  private:
    struct Span {
        std::uint32_t first_node = 0, nodes = 0, first_group = 0;
    };
    struct Change {
        std::uint32_t port = 0;
        std::int64_t at = 0, rate = 0;
    };
    enum class When : std::uint8_t { now, later };
    bool leads_on_slowly(std::uint32_t port, Heading const& heading, std::uint32_t left, std::int64_t now,
                         When when) const;
    std::span<Change const> changes_of(std::uint32_t port) const;
    void follow(std::span<LinkChange const> timetable);
    std::span<std::uint32_t const> long_route(std::uint32_t origin, std::uint32_t last) const;
    void number(DomainMap const& map);
    void fill_ports(PacketSettings const& settings);

    Fabric const* fabric_;
    DomainId domain_;
    std::uint32_t mtu_, note_;  // bytes of a full packet and of an acknowledgement
    std::vector<PortSpec> ports_;
    std::vector<std::int64_t> hold_mask_;  // per port: all ones when the node it enters holds packets
    std::vector<std::uint32_t> from_;
    std::vector<LinkId> links_;
    std::vector<NodeId> nodes_;
    std::vector<std::uint8_t> endpoint_, hold_;
    std::vector<std::uint32_t> node_of_rank_;
    std::vector<Span> spans_;
    std::vector<PortGroup> groups_;
    std::vector<Change> changes_;  // by port, then time
    mutable LongRoutes long_routes_;
    Time lookahead_ = Time::infinity(), prompt_lookahead_ = Time::infinity();
    bool any_down_ = false, mixed_rates_ = false;
};

}  // namespace orrery
