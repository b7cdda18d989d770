// SPDX-License-Identifier: Apache-2.0
// A packet network that is saved between two windows and goes on in another one ends as if nothing had happened.
#include "tests/netmodels/packet_testing.hpp"

namespace orrery::testing {
namespace {

class Bytes final : public ByteSink {
  public:
    void write(std::span<std::byte const> bytes) override { all.insert(all.end(), bytes.begin(), bytes.end()); }
    std::vector<std::byte> all;
};

std::vector<std::byte> save(PacketNetwork& network) {
    Bytes bytes;
    StateStream stream(bytes);
    network.state(stream);
    stream.flush();
    return std::move(bytes.all);
}

TEST(PacketState, GoesOnInAnotherNetwork) {
    std::vector<Message> messages;
    for (std::uint32_t host = 1; host < 64; ++host)
        messages.push_back(message(host, host % 3, 40 * 4096 + 17 * host, Time::from_ps(host % 5 * 3'000'000)));
    std::stable_sort(messages.begin(), messages.end(),
                     [](Message const& a, Message const& b) { return a.offered < b.offered; });
    for (auto const* transport : {"none", "window", "dcqcn", "delay", "receiver_credit", "hpcc"})
        for (auto const kind : {Lossless::off, Lossless::pfc, Lossless::credit}) {
            PacketSettings settings;
            settings.transport = transport;
            settings.lossless = kind;
            settings.port_buffer = kind == Lossless::off ? PacketSettings::unbounded : 256 * 1024;
            settings.ecn_kmin = 4 * 4096;
            settings.ecn_kmax = 16 * 4096;
            if (settings.transport != "none") settings.losses = {{"h00-*", 0.01}};
            if (settings.transport == "none" && kind == Lossless::off) settings.ecn_kmin = PacketSettings::unbounded;
            settings.timeout = Time::from_ps(50'000'000);
            PacketBench const bench(leaf_spine(), settings);
            auto const expected = bench.run(messages);

            auto network = bench.network();
            for (auto const& m : messages) network->offer(m);
            std::uint64_t saved = 0;
            for (std::int64_t steps = 0; network->next() < Time::infinity(); ++steps) {
                network->run(Window::containing(network->next(), bench.compiled().lookahead()));
                if (steps % 9 != 3) continue;
                auto const bytes = save(*network);
                network = bench.network();
                StateStream stream(bytes);
                network->state(stream);
                stream.expect_end();
                ++saved;
            }
            EXPECT_GT(saved, 5U);
            EXPECT_EQ(network->digest().hex(), expected.digest.hex()) << transport << ' ' << static_cast<int>(kind);
            EXPECT_EQ(network->deliveries().size(), messages.size());
        }
}

}  // namespace
}  // namespace orrery::testing
