// SPDX-License-Identifier: Apache-2.0
// What an event costs on one process and on two: PHOLD, the packet network and a whole run of the flow model.
//
// The program starts itself under mpirun, once per case and number of processes.
#include "bench/packet_rules.hpp"
#include "bench/phold_lp.hpp"
#include "bench/rows.hpp"
#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "partitions/mpi_exchange.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using bench::Bar;
using bench::Phold;

// Of all processes together.
struct Cost {
    double events = 0, cpu_s = 0;
    std::string digest;
    double per_event_us() const { return cpu_s / events * 1e6; }
};

// ---- measured: one process of a case, under mpirun; process 0 prints "events CPU-seconds digest".

void print_cost(World const& world, double cpu_s, std::int64_t my_events, Digest const& mine) {
    auto const sums = world.sum(
        std::vector<std::int64_t>{my_events, static_cast<std::int64_t>((bench::cpu_seconds() - cpu_s) * 1e6)});
    auto const words = world.sum(std::vector<std::uint64_t>{mine.low, mine.high});
    if (world.root())
        fmt::print("{} {} {}\n", sums[0], static_cast<double>(sums[1]) * 1e-6, Digest{words[0], words[1]}.hex());
}

void measure_phold(World const& world) {
    constexpr Phold phold{.population = 4, .remote_share = 0.25};
    std::vector<std::uint32_t> owner(Phold::lp_count);
    std::vector<std::unique_ptr<bench::PholdLp>> lps;
    std::vector<LocalLp> local;
    for (std::uint32_t lp = 0; lp < Phold::lp_count; ++lp) {
        owner[lp] = lp * world.count() / Phold::lp_count;
        if (owner[lp] != world.index()) continue;
        lps.push_back(std::make_unique<bench::PholdLp>(LpId(lp), phold));
        local.push_back({LpId(lp), lps.back().get()});
    }
    auto const exchange = make_exchange(world);
    WindowLoop loop({.lookahead = Phold::lookahead, .until = Time::from_ps(150'000'000)}, local, owner, *exchange);
    world.barrier();
    auto const cpu_s = bench::cpu_seconds();
    auto const outcome = loop.run();
    Digest digest;
    for (std::size_t i = 0; i < lps.size(); ++i) digest.add(local[i].id.value(), lps[i]->digest());
    print_cost(world, cpu_s, outcome.local_events, digest);
}

// An event is one packet over one link.
void measure_packets(World const& world) {
    constexpr std::uint32_t hosts = 256;
    auto const fabric = bench::make_leaf_spine(hosts);
    DomainMap const map(*fabric);
    PacketSettings settings;
    settings.transport = "none";
    settings.lossless = Lossless::off;
    PacketFabric const compiled(*fabric, map, DomainId{0}, settings);
    bench::Rotation const rule(hosts, hosts - 1, 64 * 1024);
    auto const network =
        make_packet_network(compiled, map, settings, {compiled.deal(world.count()), world.index(), world.count()});
    network->follow(rule);
    auto const exchange = make_exchange(world);
    PacketLoop loop(*network, *exchange, compiled.lookahead());
    world.barrier();
    auto const cpu_s = bench::cpu_seconds();
    loop.begin();
    while (loop.advance()) network->deliveries().clear();
    print_cost(world, cpu_s, network->counters().hops, network->digest());
}

int measure(std::string const& name, int argc, char** argv) {
    World const world(argc, argv);
    if (name == "phold")
        measure_phold(world);
    else
        measure_packets(world);
    return 0;
}

// ---- the driver

std::string launch(std::uint32_t processes) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    return fmt::format("{} -n {}", ORRERY_MPIEXEC, processes);
}

std::optional<Cost> own_case(std::string const& self, std::string const& name, std::uint32_t processes) {
    auto* const pipe = popen(fmt::format("{} {} --measure {}", launch(processes), self, name).c_str(), "r");
    if (!pipe) return {};
    Cost cost;
    std::array<char, 64> digest{};
    bool const read = std::fscanf(pipe, "%lf %lf %63s", &cost.events, &cost.cpu_s, digest.data()) == 3;
    cost.digest = digest.data();
    return pclose(pipe) == 0 && read ? std::optional(cost) : std::nullopt;
}

// A whole run of the program, from reading the scenario to the finished timeline: four super-nodes, 24 groups of 64.
std::optional<Cost> flow_case(std::uint32_t processes) {
    auto const out = fs::temp_directory_path() / fmt::format("orrery-bench-parallel-{}", getpid());
    auto const command = fmt::format(
        "{} {} run {}/scenarios/superpod_32k.yaml --set fabric.cloudmatrix384.supernodes=4 "
        "--set workload.ep_groups=48 --set workload.moe_layers=2 --quiet --force --out {}",
        launch(processes), ORRERY_PROGRAM, ORRERY_SOURCE_DIR, out.string());
    std::optional<Cost> cost;
    if (std::system(command.c_str()) == 0) {
        auto const summary = nlohmann::json::parse(std::ifstream(out / "summary.json"));
        cost = Cost{summary["flows"].get<double>(), summary["cpu_s"].get<double>(), summary["digest"]};
    }
    std::error_code ignored;
    fs::remove_all(out, ignored);
    return cost;
}

struct Bars {
    Bar kind = Bar::none;  // of the rate on one process
    double per_second = 0, per_event_us = 0;
};

void add_case(bench::Rows& rows, std::string const& name, char const* unit, Bars const& bars,
              std::function<std::optional<Cost>(std::uint32_t processes)> const& run) {
    std::array<Cost, 2> costs;
    for (std::uint32_t processes : {1U, 2U}) {
        // Best of three: what else runs on the machine only ever slows.
        for (int again = 0; again < 3; ++again) {
            auto const cost = run(processes);
            if (!cost) {
                rows.add(name, fmt::format("runs on {}", processes), 0, Bar::at_least, 1);
                return;
            }
            auto& best = costs[processes - 1];
            if (again == 0 || cost->cpu_s < best.cpu_s) best = *cost;
        }
    }
    auto const& [one, two] = costs;
    rows.add(name, unit, one.events);
    rows.add(name, fmt::format("{} per CPU second, 1", unit), one.events / one.cpu_s, bars.kind, bars.per_second);
    rows.add(name, "us CPU each, 2", two.per_event_us(), bars.kind == Bar::none ? Bar::none : Bar::at_most,
             bars.per_event_us);
    rows.add(name, "CPU on 2 over CPU on 1", two.cpu_s / one.cpu_s);
    rows.add(name, "same digest on 1 and 2", one.digest == two.digest ? 1 : 0, Bar::at_least, 1);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
    using namespace orrery;
    if (argc == 3 && std::string(argv[1]) == "--measure") return measure(argv[2], argc, argv);
    bench::Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();
    auto const self = fs::canonical("/proc/self/exe").string();
    constexpr Bars bars{.kind = Bar::at_least, .per_second = 3e6, .per_event_us = 0.4};
    add_case(rows, "phold 8192 x 4, 25 % remote", "events", bars,
             [&](std::uint32_t processes) { return own_case(self, "phold", processes); });
    add_case(rows, "packet, 256 hosts", "packet hops", bars,
             [&](std::uint32_t processes) { return own_case(self, "packet", processes); });
    add_case(rows, "flow, 3,072 ranks", "flows", {}, flow_case);
    return rows.finish();
}
