// SPDX-License-Identifier: Apache-2.0
// A message on its way in: the way its packets take and how many they are.
#pragma once

#include "netmodels/packet/network.hpp"

namespace orrery {

// A route as packets carry it, in local bundles. hop1 and hop2 are 0 on shorter routes; on longer ones hop2 stands for
// the number of hops.
struct PacketWay {
    std::uint32_t first = 0, hop1 = 0, hop2 = 0, last = 0;
    std::uint8_t left = 0;  // hops after the first
};

// Throws InputError when the route is too long.
PacketWay packet_way(PacketFabric const& fabric, DomainMap const& map, RankId source, RankId target);

struct MessageCut {
    PacketWay way;
    std::int64_t bytes = 0;  // at least one
    std::uint32_t packets = 0;
    std::uint16_t last_bytes = 0;  // of the last packet; the others have an MTU
};

// Throws InputError when the route is too long or the packets are too many.
MessageCut cut_message(PacketFabric const& fabric, DomainMap const& map, std::uint32_t mtu, Message const& message);

// What a network has delivered, one word per rank, into its digest: of the ranks whose node `mine` says is here.
template <class Mine>
void add_delivered(Digest& digest, PacketFabric const& fabric, std::vector<std::uint64_t> const& by_rank,
                   Mine const& mine) {
    for (std::uint32_t r = 0; r < by_rank.size(); ++r) {
        auto const node = fabric.node_of(RankId{r});
        if (node == PacketFabric::no_node || !mine(node)) continue;
        DigestChain chain;
        chain.add(by_rank[r]);
        digest.add((std::uint64_t{1} << 32) + r, chain);
    }
}

}  // namespace orrery
