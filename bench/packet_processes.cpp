// SPDX-License-Identifier: Apache-2.0
// The packet network on several processes against one, in the same run: mpirun -n P bench_packet_processes.
#include "bench/packet_rules.hpp"
#include "bench/rows.hpp"
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "partitions/dry_run_exchange.hpp"
#include "partitions/mpi_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace orrery::bench {
namespace {

constexpr std::uint32_t hosts = 512;

struct Shared {
    double cpu = 1e300, wall = 1e300, busy = 0, waiting = 0;  // seconds, summed over processes but for wall
    std::int64_t hops = 0, injected = 0, delivered = 0;
    Digest digest;
};

// One run on all processes, or on the first while the others wait; what else runs only ever slows, so the best counts.
void run(World const& world, PacketFabric const& compiled, DomainMap const& map, PacketSettings const& settings,
         std::uint32_t processes, Shared& best) {
    Rotation const rule(hosts, hosts - 1, 64 * 1024);
    PacketCounters counters;
    Digest digest;
    double cpu = 0, wall = 0, busy = 0, waiting = 0;
    world.barrier();
    if (world.index() < processes) {
        auto const network =
            make_packet_network(compiled, map, settings, {compiled.deal(processes), world.index(), processes});
        network->follow(rule);
        auto const exchange = processes == 1 ? std::make_unique<LocalExchange>() : make_exchange(world);
        PacketLoop loop(*network, *exchange, compiled.lookahead());
        auto const cpu_before = cpu_seconds();
        auto const started = std::chrono::steady_clock::now();
        loop.begin();
        while (loop.advance()) network->deliveries().clear();
        wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        cpu = cpu_seconds() - cpu_before;
        busy = loop.outcome().busy_seconds;
        waiting = loop.outcome().sync_seconds;
        counters = network->counters();
        digest = network->digest();
    }
    auto const micro = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e6); };
    auto const sums = world.sum(std::vector<std::int64_t>{micro(cpu), micro(busy), micro(waiting), counters.hops,
                                                          counters.injected, counters.delivered});
    auto const words = world.sum(std::vector<std::uint64_t>{digest.low, digest.high});
    wall = world.max_of(wall);
    if (wall < best.wall) {
        best.wall = wall;
        best.busy = static_cast<double>(sums[1]) * 1e-6;
        best.waiting = static_cast<double>(sums[2]) * 1e-6;
    }
    best.cpu = std::min(best.cpu, static_cast<double>(sums[0]) * 1e-6);
    best.hops = sums[3], best.injected = sums[4], best.delivered = sums[5];
    best.digest = {words[0], words[1]};
}

// Shares of the network that one thread steps in turn: what dividing it costs, without messages and waiting.
double divided_cpu(PacketFabric const& compiled, DomainMap const& map, PacketSettings const& settings,
                   std::uint32_t shares) {
    Rotation const rule(hosts, hosts - 1, 64 * 1024);
    DryRun board(shares);
    std::vector<std::unique_ptr<PacketNetwork>> networks;
    std::vector<std::unique_ptr<PacketLoop>> loops;
    for (std::uint32_t p = 0; p < shares; ++p) {
        networks.push_back(make_packet_network(compiled, map, settings, {compiled.deal(shares), p, shares}));
        networks[p]->follow(rule);
        loops.push_back(std::make_unique<PacketLoop>(*networks[p], board.exchange(p), compiled.lookahead()));
    }
    auto const before = cpu_seconds();
    board.run(std::span<std::unique_ptr<PacketLoop> const>{loops});
    return cpu_seconds() - before;
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
    using namespace orrery;
    using namespace orrery::bench;
    World const world(argc, argv);
    Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();
    auto const fabric = make_leaf_spine(hosts);
    DomainMap const map(*fabric);
    for (auto const& [title, settings] :
         {std::pair{"open loop", PacketSettings{}}, std::pair{"DCQCN, PFC, ECN", roce_settings()}}) {
        PacketFabric const compiled(*fabric, map, DomainId{0}, settings);
        Shared one, all;
        double divided = 1e300;
        for (int again = 0; again < 3; ++again) {
            run(world, compiled, map, settings, 1, one);
            run(world, compiled, map, settings, world.count(), all);
            if (world.root()) divided = std::min(divided, divided_cpu(compiled, map, settings, world.count()));
            world.barrier();
        }
        auto const name = fmt::format("{}, {} hosts", title, hosts);
        bool const two = world.count() == 2;
        auto const of_all = fmt::format("{} processes: ", world.count());
        rows.add(name, "packet hops", static_cast<double>(all.hops));
        rows.add(name, "1 process: CPU seconds", one.cpu);
        rows.add(name, "1 process: wall seconds", one.wall);
        rows.add(name, of_all + "CPU seconds", all.cpu);
        rows.add(name, of_all + "wall seconds", all.wall);
        rows.add(name, of_all + "busy share", all.busy / (all.busy + all.waiting));
        rows.add(name, of_all + "sync share", all.waiting / (all.busy + all.waiting));
        rows.add(name, "as many shares in one thread: CPU over one process", divided / one.cpu);
        rows.add(name, "CPU over one process", all.cpu / one.cpu, two ? Bar::at_most : Bar::none, 1.25);
        rows.add(name, "wall over one process", all.wall / one.wall, two ? Bar::at_most : Bar::none, 0.62);
        rows.add(name, "same digest, conserved",
                 one.digest == all.digest && one.hops == all.hops && all.injected == all.delivered ? 1 : 0,
                 Bar::at_least, 1);
    }
    return world.root() ? rows.finish() : 0;
}
