// SPDX-License-Identifier: Apache-2.0
#include "netmodels/packet/message_cut.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {

MessageCut cut_message(PacketFabric const& fabric, DomainMap const& map, std::uint32_t mtu, Message const& message) {
    auto const route = fabric.fabric().route(message.source, message.target);
    auto const count = route.hop_count;
    ORRERY_VALIDATE(count <= PacketFabric::most_hops,
                    "a route of {} hops (the packet model carries {}); use the flow model", count,
                    PacketFabric::most_hops);
    auto const bytes = std::max<std::int64_t>(message.bytes, 1);
    auto const packets = (bytes + mtu - 1) / mtu;
    ORRERY_VALIDATE(packets < most_packet_ids, "a message of {} bytes has {} packets (at most {}); raise the MTU",
                    bytes, packets, most_packet_ids - 1);
    auto const hop = [&](std::uint32_t i) { return map.local(route.hops[i]); };
    return {.bytes = bytes,
            .first = hop(0),
            .hop1 = count == 4 ? hop(1) : 0,
            .hop2 = count >= 3 ? hop(count - 2) : 0,
            .last = hop(count - 1),
            .packets = static_cast<std::uint32_t>(packets),
            .last_bytes = static_cast<std::uint16_t>(bytes - (packets - 1) * mtu),
            .left = static_cast<std::uint8_t>(count - 1)};
}

}  // namespace orrery
