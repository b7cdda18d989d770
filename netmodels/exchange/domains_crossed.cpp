// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/domains_crossed.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>
#include <set>

namespace orrery {

std::vector<DomainId> domains_crossed(Fabric const& fabric, std::span<RankId const> ranks) {
    constexpr std::size_t most_in_full = 4096;
    std::set<DomainId> crossed;
    auto const n = ranks.size();
    for (std::size_t s = 0; s < n; ++s) {
        if (crossed.size() == fabric.domain_count()) break;
        for (std::size_t distance = 1; distance < n; distance = n <= most_in_full ? distance + 1 : distance * 2)
            crossed.insert(fabric.route(ranks[s], ranks[(s + distance) % n]).domain);
    }
    return {crossed.begin(), crossed.end()};
}

Time least_route_latency(Fabric const& fabric) {
    auto out = Time::infinity(), in = Time::infinity(), between = Time::infinity();
    for (auto const& bundle : fabric.bundles()) {
        for (std::uint32_t m = 0; m < bundle.member_count; ++m) {
            auto const& link = fabric.links()[fabric.members()[bundle.first_member + m].index()];
            bool const leaves = fabric.nodes()[link.from.index()].kind == NodeKind::endpoint;
            bool const enters = fabric.nodes()[link.to.index()].kind == NodeKind::endpoint;
            if (leaves && enters) between = std::min(between, bundle.latency);
            if (leaves) out = std::min(out, bundle.latency);
            if (enters) in = std::min(in, bundle.latency);
        }
    }
    if (out == Time::infinity() || in == Time::infinity()) return {};
    return std::min(out + in, between);
}

}  // namespace orrery
