// SPDX-License-Identifier: Apache-2.0
// The packet network on several processes: mpirun -n P bench_packet_processes; compare with P = 1.
#include "bench/packet_rules.hpp"
#include "bench/rows.hpp"
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "partitions/mpi_exchange.hpp"

#include <chrono>

int main(int argc, char** argv) {
    using namespace orrery;
    using namespace orrery::bench;
    World const world(argc, argv);
    Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();
    constexpr std::uint32_t hosts = 512;
    auto const fabric = make_leaf_spine(hosts);
    DomainMap const map(*fabric);
    for (auto const* transport : {"none", "window"}) {
        PacketSettings settings;
        settings.transport = transport;
        settings.lossless = settings.transport == "none" ? Lossless::off : Lossless::credit;
        if (settings.transport != "none") settings.port_buffer = 1 << 20;
        PacketFabric const compiled(*fabric, map, DomainId{0}, settings);
        Rotation const rule(hosts, hosts - 1, 64 * 1024);
        auto const network =
            make_packet_network(compiled, map, settings, {compiled.deal(world.count()), world.index(), world.count()});
        network->follow(rule);
        auto const exchange = make_exchange(world);
        PacketLoop loop(*network, *exchange, compiled.lookahead());
        world.barrier();
        auto const cpu = cpu_seconds();
        auto const wall = std::chrono::steady_clock::now();
        loop.begin();
        while (loop.advance()) network->deliveries().clear();
        auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
        auto const micro = [](double s) { return static_cast<std::int64_t>(s * 1e6); };
        auto const c = network->counters();
        auto const sums =
            world.sum(std::vector<std::int64_t>{micro(cpu_seconds() - cpu), micro(loop.outcome().busy_seconds),
                                                micro(loop.outcome().sync_seconds), c.hops, c.injected, c.delivered});
        auto const digest = network->digest();
        auto const words = world.sum(std::vector<std::uint64_t>{digest.low, digest.high});
        auto const name = fmt::format("{}, {} hosts, {} processes", transport, hosts, world.count());
        rows.add(name, "CPU seconds of all", static_cast<double>(sums[0]) * 1e-6);
        rows.add(name, "wall seconds", seconds);
        rows.add(name, "busy seconds of all", static_cast<double>(sums[1]) * 1e-6);
        rows.add(name, "waiting seconds of all", static_cast<double>(sums[2]) * 1e-6);
        rows.add(name, "packet hops", static_cast<double>(sums[3]));
        rows.add(name, "conserved", sums[4] == sums[5] ? 1 : 0, Bar::at_least, 1);
        if (world.root()) fmt::print(stderr, "{}: digest {}\n", name, Digest{words[0], words[1]}.hex());
    }
    return world.root() ? rows.finish() : 0;
}
