// SPDX-License-Identifier: Apache-2.0
// Which of the parallel links of its next bundle a packet takes: arithmetic on what the packet carries.
#pragma once

#include "core/digest.hpp"
#include "netmodels/packet/packet_fabric.hpp"

#include <bit>

namespace orrery {

class LinkChooser {
  public:
    LinkChooser(PacketFabric const& fabric, PacketSettings const& settings)
        : fabric_(&fabric),
          seed_(DigestChain::mix(settings.seed + 0x70636b74U)),
          per_switch_(settings.seed_per_switch),
          balancing_(settings.load_balancing) {
        for (std::uint32_t p = 0; p < fabric.port_count(); ++p)
            if (fabric.is_endpoint(fabric.from(p)))
                fanout_ = std::max(fanout_, fabric.group(fabric.port(p).bundle, fabric.from(p)).count);
    }

    LoadBalancing balancing() const { return balancing_; }

    // The position that spraying or hashing gives a packet among `count` links at a node. Spraying deals each origin's
    // packets in rounds that use every link once, each round turned by a hash: dealt in plain turns, origins that send
    // to their targets in turn as well would all reach one target over the same link.
    std::uint32_t position(Heading const& heading, std::uint32_t node, std::uint32_t count, bool at_origin) const {
        auto const number = heading.count;
        if (balancing_ == LoadBalancing::ecmp) {
            auto const pair = static_cast<std::uint64_t>(heading.origin) << 24 | heading.last;
            auto const draw = DigestChain::mix(pair ^ DigestChain::mix(seed_ + (per_switch_ ? node + 1U : 0U)));
            return static_cast<std::uint32_t>((draw >> 32) * count >> 32);
        }
        auto const dealt = at_origin || fanout_ == 1 ? number : number / fanout_;
        bool const binary = (count & (count - 1)) == 0;
        auto const round = binary ? dealt >> std::countr_zero(count) : dealt / count;
        auto const turned =
            DigestChain::mix((static_cast<std::uint64_t>(heading.origin) << 32 | round) ^ (at_origin ? seed_ : ~seed_));
        auto const turn = dealt + static_cast<std::uint32_t>(turned >> 40);
        return binary ? turn & (count - 1) : turn % count;
    }

    // For spraying and hashing. A link behind which the target cannot be reached at `now`, when the packet is there, is
    // passed over; where that leaves none, one is taken that will be up again. Returns `no_port` when there is none at
    // all. `left` hops are to go behind the link.
    static constexpr std::uint32_t no_port = ~0U;
    [[gnu::always_inline]] std::uint32_t choose(Heading const& heading, PortGroup group, std::uint32_t node,
                                                std::uint32_t left, bool at_origin, std::int64_t now) const {
        if (group.count == 1 && fabric_->all_up()) return group.first;
        return choose_among(heading, group, node, left, at_origin, now);
    }
    std::uint32_t choose_among(Heading const& heading, PortGroup group, std::uint32_t node, std::uint32_t left,
                               bool at_origin, std::int64_t now) const {
        if (group.count == 0) return no_port;
        auto const first = position(heading, node, group.count, at_origin);
        if (fabric_->all_up()) return group.first + first;
        auto later = no_port;
        for (std::uint32_t tried = 0, at = first; tried < group.count;
             ++tried, at = at + 1 == group.count ? 0 : at + 1) {
            auto const port = group.first + at;
            if (fabric_->leads_on(port, heading, left, now)) return port;
            if (later == no_port && fabric_->will_lead_on(port, heading, left, now)) later = port;
        }
        return later;
    }

    // For adaptive balancing: the link with the least `cost(port)`, ties in turn.
    template <class Cost>
    std::uint32_t least(Heading const& heading, PortGroup group, std::uint32_t node, std::uint32_t left, bool at_origin,
                        std::int64_t now, Cost const& cost) const {
        if (group.count == 0) return no_port;
        auto best = no_port;
        std::int64_t best_cost = 0;
        auto at = position(heading, node, group.count, at_origin);
        for (std::uint32_t tried = 0; tried < group.count; ++tried, at = at + 1 == group.count ? 0 : at + 1) {
            auto const port = group.first + at;
            if (!fabric_->leads_on(port, heading, left, now)) continue;
            auto const c = cost(port);
            if (best != no_port && c >= best_cost) continue;
            best = port;
            best_cost = c;
        }
        return best != no_port ? best : choose(heading, group, node, left, at_origin, now);
    }

  private:
    PacketFabric const* fabric_;
    std::uint64_t seed_;
    bool per_switch_;
    LoadBalancing balancing_;
    std::uint32_t fanout_ = 1;
};

}  // namespace orrery
