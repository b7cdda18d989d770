// SPDX-License-Identifier: Apache-2.0
// The end of a message is told before it comes, so that what depends on it can begin in time.
#include "netmodels/packet/packet_engine.hpp"
#include "tests/netmodels/packet_testing.hpp"

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

// The open loop without and with queues, and transports that repeat or not.
std::vector<PacketSettings> kinds() {
    PacketSettings swept, queued, window, counted, lossy;
    queued.keep_queues = true;
    window.transport = "window";
    counted.transport = "dcqcn";
    counted.lossless = Lossless::pfc;
    counted.port_buffer = 1 << 20;
    counted.window = 0;
    lossy.transport = "dcqcn";
    lossy.losses = {{.pattern = "*.down", .probability = 0.02}};
    return {swept, queued, window, counted, lossy};
}

std::vector<Message> some_messages() {
    std::vector<Message> messages;
    for (std::uint32_t host = 0; host < 32; ++host)
        for (std::uint32_t step : {1U, 9U, 17U})
            messages.push_back(message(host, (host + step) % 32, 20'000 + 1'000 * host));
    return messages;
}

scenario::FabricSpec small_leaf_spine() {
    scenario::LeafSpine spec;
    spec.set_hosts(32);
    return leaf_spine(spec);
}

TEST(PacketPrompt, DeliveriesAreToldBeforeTheyHappen) {
    for (auto settings : kinds()) {
        settings.prompt = true;
        PacketBench const bench(small_leaf_spine(), settings);
        auto const network = bench.network();
        for (auto const& m : some_messages()) network->offer(m);
        std::size_t told = 0;
        while (network->next() < Time::infinity()) {
            auto const window = Window::containing(network->next(), bench.compiled().prompt_lookahead());
            network->run(window);
            for (auto const& delivery : network->deliveries()) EXPECT_GE(delivery.when, window.end);
            told += network->deliveries().size();
            network->deliveries().clear();
        }
        EXPECT_EQ(told, some_messages().size());
    }
}

TEST(PacketPrompt, ChangesNothingElseOnAnyNumberOfProcesses) {
    for (auto settings : kinds()) {
        auto const late = PacketBench(small_leaf_spine(), settings).run(some_messages());
        settings.prompt = true;
        PacketBench const bench(small_leaf_spine(), settings);
        for (std::uint32_t const processes : {1U, 3U})
            for (std::int64_t const divisor : {1, 3}) {
                auto const run = bench.run(some_messages(), processes, divisor, Split::scattered);
                EXPECT_EQ(run.digest, late.digest) << settings.transport << " on " << processes;
                EXPECT_EQ(run.counters.bytes_delivered, late.counters.bytes_delivered);
            }
    }
}

// Each host hands on what it has got from the one before, at the instant at which it has it.
TEST(PacketPrompt, ARingOfDependentTransfersLosesNoTime) {
    for (auto settings : kinds()) {
        if (!settings.losses.empty()) continue;
        settings.prompt = true;
        auto const fabric = make_fabric(small_leaf_spine(), 1);
        DomainMap const map(*fabric);
        PacketEngine engine(*fabric, map, DomainId{0}, settings);
        constexpr std::int64_t bytes = 4 * 4096;
        constexpr std::uint32_t steps = 20;
        Time now, closed_form;
        for (std::uint32_t step = 0; step < steps; ++step) {
            auto const route = fabric->route(RankId{step}, RankId{step + 1});
            engine.start(now, route.bundles(), TransferEngine::no_engine, route.cap, 1, bytes, step);
            std::vector<TransferDone> done;
            Time told;
            while (done.empty()) {
                told = engine.next();
                ASSERT_LT(told, Time::infinity());
                engine.advance(told, done);
            }
            Time latency;
            for (auto const hop : route.bundles()) latency += fabric->bundles()[hop.index()].latency;
            now = done[0].when + latency;
            EXPECT_GE(now, told);
            // Store and forward: the packets in a row, and one more packet time per further link. A host that hands on
            // first acknowledges the last packet, 64 B.
            auto const hops = static_cast<std::int64_t>(route.bundles().size());
            auto const acknowledgement = settings.transport == "none" || step == 0 ? 0 : 1'280;
            closed_form += Time::from_ps(acknowledgement + 4 * ser + (hops - 1) * ser + hops * wire);
            EXPECT_EQ(now, closed_form) << settings.transport << ", step " << step;
        }
    }
}

}  // namespace
}  // namespace orrery::testing
