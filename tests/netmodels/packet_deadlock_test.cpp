// SPDX-License-Identifier: Apache-2.0
// A ring of switches around which credits can deadlock, and its diagnosis.
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "tests/netmodels/ring_fabric.hpp"

#include <gmock/gmock.h>

namespace orrery::testing {
namespace {

constexpr std::uint32_t size = 4;

// A host's messages go two switches on.
TEST(PacketDeadlock, ACycleOfFullBuffersIsNamed) {
    RingFabric const fabric(size);
    DomainMap const map(fabric);
    PacketSettings settings;
    settings.lossless = Lossless::credit;
    settings.port_buffer = 2 * 4096;
    PacketFabric const compiled(fabric, map, DomainId{0}, settings);
    auto const network = make_packet_network(compiled, map, settings);
    for (std::uint32_t host = 0; host < size; ++host)
        network->offer({.source = RankId{host},
                        .target = RankId{(host + 2) % size},
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
