// SPDX-License-Identifier: Apache-2.0
// The packet engines against a bare loop over FIFO ports in the same run, on a leaf-spine at 400 Gb/s.
#include "bench/packet_ceiling.hpp"
#include "bench/packet_rules.hpp"
#include "bench/rows.hpp"
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"

#include <sys/resource.h>

#include <cmath>
#include <memory>

namespace orrery::bench {
namespace {

constexpr std::int64_t pair_bytes = 64 * 1024;

struct Measured {
    double seconds = 0;
    PacketCounters counters;
    Time last;
    std::int64_t memory = 0, flow_bytes = 0;
    Digest digest;
};

// All-to-all in rotation: source r sends to r + 1, r + 2, ..., one message after the other.
Measured all_to_all(std::uint32_t hosts, PacketSettings const& settings, Time width_divisor = Time::from_ps(1)) {
    auto const fabric = make_leaf_spine(hosts);
    DomainMap const map(*fabric);
    PacketFabric const compiled(*fabric, map, DomainId{0}, settings);
    Rotation const rule(hosts, hosts - 1, pair_bytes);
    auto const network = make_packet_network(compiled, map, settings);
    auto& engine = *network;
    engine.follow(rule);
    LocalExchange alone;
    PacketLoop loop(engine, alone, Time::from_ps(compiled.lookahead().ps() / width_divisor.ps()));
    auto const started = cpu_seconds();
    loop.begin();
    Measured result;
    while (loop.advance()) {
        for (auto const& done : engine.deliveries()) result.last = std::max(result.last, done.when);
        engine.deliveries().clear();
    }
    result.seconds = cpu_seconds() - started;
    result.counters = engine.counters();
    result.memory = engine.memory_bytes();
    result.flow_bytes = engine.flow_state_bytes();
    result.digest = engine.digest();
    return result;
}

double peak_gib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / (1024.0 * 1024.0);
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
    using namespace orrery;
    using namespace orrery::bench;
    Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();

    PacketSettings const settings;
    double slowest = 1e300, fastest = 0;
    for (std::uint32_t const hosts : {64U, 128U, 256U, 512U, 1024U}) {
        auto const name = fmt::format("all-to-all 64 KiB, {} hosts", hosts);
        auto ceiling = bare_sweep(hosts, pair_bytes);
        auto run = all_to_all(hosts, settings);
        for (int again = 0; again < (hosts <= 256 ? 2 : 0); ++again) {  // what else runs only ever slows
            ceiling.seconds = std::min(ceiling.seconds, bare_sweep(hosts, pair_bytes).seconds);
            run.seconds = std::min(run.seconds, all_to_all(hosts, settings).seconds);
        }
        auto const bare = static_cast<double>(ceiling.hops) / ceiling.seconds;
        auto const speed = static_cast<double>(run.counters.hops) / run.seconds;
        slowest = std::min(slowest, speed);
        fastest = std::max(fastest, speed);
        rows.add(name, "ceiling, hops per CPU second", bare);
        rows.add(name, "open loop, hops per CPU second", speed);
        rows.add(name, "share of the ceiling", speed / bare, Bar::at_least, 1.0 / 3);
        rows.add(name, "packet hops", static_cast<double>(run.counters.hops));
        rows.add(name, "CPU seconds", run.seconds, hosts == 1024 ? Bar::at_most : Bar::none, 20);
        rows.add(name, "simulated us", run.last.seconds() * 1e6);
        // Every byte leaves over the host's one link, then four hops of 500 ns, three of them behind a whole packet.
        auto const ideal = (hosts - 1.0) * pair_bytes * 8 / 400e9 + 4 * 500e-9 + 3 * 81.92e-9;
        rows.add(name, "over the ideal time", run.last.seconds() / ideal, Bar::at_most, 1.06);
        rows.add(name, "engine MiB", static_cast<double>(run.memory) / (1024.0 * 1024.0));
        rows.add(name, "conserved", run.counters.injected == run.counters.delivered ? 1 : 0, Bar::at_least, 1);
    }
    rows.add("64 to 1,024 hosts", "slowest over fastest", slowest / fastest, Bar::at_least, 0.75);

    slowest = 1e300, fastest = 0;
    for (std::uint32_t const hosts : {64U, 256U, 1024U}) {
        auto const name = fmt::format("DCQCN, PFC, ECN, {} hosts", hosts);
        auto ceiling = bare_sweep(hosts, pair_bytes);
        auto run = all_to_all(hosts, roce_settings());
        for (int again = 0; again < (hosts <= 256 ? 2 : 0); ++again) {
            ceiling.seconds = std::min(ceiling.seconds, bare_sweep(hosts, pair_bytes).seconds);
            run.seconds = std::min(run.seconds, all_to_all(hosts, roce_settings()).seconds);
        }
        auto const bare = static_cast<double>(ceiling.hops) / ceiling.seconds;
        auto const speed = static_cast<double>(run.counters.hops) / run.seconds;
        slowest = std::min(slowest, speed);
        fastest = std::max(fastest, speed);
        rows.add(name, "hops per CPU second", speed);
        rows.add(name, "share of the ceiling", speed / bare, Bar::at_least, 1.0 / 8);
        rows.add(name, "packet hops, all kinds", static_cast<double>(run.counters.hops));
        rows.add(name, "CPU seconds", run.seconds, hosts == 1024 ? Bar::at_most : Bar::none, 60);
        rows.add(name, "simulated us", run.last.seconds() * 1e6);
        rows.add(name, "engine MiB", static_cast<double>(run.memory) / (1024.0 * 1024.0));
        rows.add(name, "dropped", static_cast<double>(run.counters.dropped), Bar::at_most, 0);
        rows.add(name, "bytes per active flow", static_cast<double>(run.flow_bytes), Bar::at_most, 128);
    }
    rows.add("DCQCN, 64 to 1,024 hosts", "slowest over fastest", slowest / fastest, Bar::at_least, 0.75);
    rows.add("64 to 1,024 hosts", "bytes per active flow", static_cast<double>(all_to_all(64, settings).flow_bytes),
             Bar::at_most, 128);
    rows.add("64 hosts", "digest independent of width",
             all_to_all(64, settings).digest == all_to_all(64, settings, Time::from_ps(2)).digest ? 1 : 0,
             Bar::at_least, 1);
    rows.add("all cases", "peak GiB of this process", peak_gib(), Bar::at_most, 1.5);
    return rows.finish();
}
