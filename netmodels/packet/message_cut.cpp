// SPDX-License-Identifier: Apache-2.0
#include "netmodels/packet/message_cut.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {

PacketWay packet_way(PacketFabric const& fabric, DomainMap const& map, RankId source, RankId target) {
    auto const route = fabric.fabric().route(source, target);
    auto const bundles = route.bundles();
    auto const count = static_cast<std::uint32_t>(bundles.size());
    ORRERY_VALIDATE(count <= PacketFabric::most_hops,
                    "a route of {} hops (the packet model carries {}); use the flow model", count,
                    PacketFabric::most_hops);
    auto const hop = [&](std::uint32_t i) { return map.local(bundles[i]); };
    PacketWay way{.first = hop(0), .last = hop(count - 1), .left = static_cast<std::uint8_t>(count - 1)};
    if (count > PacketFabric::carried_hops) {
        way.hop1 = hop(1);
        way.hop2 = fabric.long_from() + count;
    } else {
        way.hop1 = count == PacketFabric::carried_hops ? hop(1) : 0;
        way.hop2 = count >= 3 ? hop(count - 2) : 0;
    }
    return way;
}

MessageCut cut_message(PacketFabric const& fabric, DomainMap const& map, std::uint32_t mtu, Message const& message) {
    auto const bytes = std::max<std::int64_t>(message.bytes, 1);
    auto const packets = (bytes + mtu - 1) / mtu;
    ORRERY_VALIDATE(packets < most_packet_ids, "a message of {} bytes has {} packets (at most {}); raise the MTU",
                    bytes, packets, most_packet_ids - 1);
    return {.way = packet_way(fabric, map, message.source, message.target),
            .bytes = bytes,
            .packets = static_cast<std::uint32_t>(packets),
            .last_bytes = static_cast<std::uint16_t>(bytes - (packets - 1) * mtu)};
}

}  // namespace orrery
