// SPDX-License-Identifier: Apache-2.0
// What collectives cost to simulate: whole runs of the program's own machinery on a two-level non-blocking tree.
//
// Hosts have 50 GB/s and sit 32 to a leaf, so only their ports can bind. ASTRA-sim needs 26 to 60 s for a ring of 16
// MiB on 1,024 ranks and 118 to 188 s for an all-to-all; SimAI's packet back end 56 s for a ring on 128 ranks.
#include "bench/isolated.hpp"
#include "bench/rows.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace orrery {
namespace {

using bench::Bar;

struct Case {
    char const* op;
    char const* algorithm;
    char const* model;
    int ranks;
    double cpu_bar_s, memory_bar_mb;  // zero: none
    double simulated_us;              // by its closed form; zero: it has none
    double tolerance;                 // the table has three digits behind the point
};

// 16 MiB in n blocks over a port of 50 GB/s, and 2 us from leaf to leaf.
constexpr double ring_us(int n) {
    return 2.0 * (n - 1) * (16'777'216.0 / n / 50e3 + 2);
}
constexpr double pairwise_us(int n) {
    return (n - 1) * (16'777'216.0 / n / 50e3 + 2);
}
constexpr double direct_us(int n) {
    return (n - 1) * (16'777'216.0 / n / 50e3) + 2;
}

// The bars of 1,024 ranks hold on a machine of 2024 with nothing else to do.
constexpr std::array cases = {
    Case{"all-reduce", "ring", "flow", 1024, 1, 200, ring_us(1024), 2e-6},
    Case{"all-to-all", "pairwise", "flow", 1024, 1, 0, 0, 0},
    Case{"all-to-all", "direct", "flow", 1024, 1, 0, direct_us(1024), 2e-6},
    Case{"all-reduce", "ring", "analytic", 1024, 0, 0, ring_us(1024), 2e-6},
    Case{"all-to-all", "direct", "analytic", 1024, 0, 0, direct_us(1024), 2e-6},
    Case{"all-reduce", "halving_doubling", "flow", 1024, 0, 0, 0, 0},
    Case{"all-reduce", "ring", "packet", 128, 3, 0, 0, 0},
};

// The time of the only line of the table, in us.
double run(Case const& c) {
    auto const command = fmt::format(
        "'{}' collective --fabric '{{kind: leaf_spine, leaf_spine: {{hosts: {}, hosts_per_leaf: 32, spines: 32}}}}' "
        "--op {} --algorithm {} --model {} --sizes 16MiB",
        ORRERY_PROGRAM, c.ranks, c.op, c.algorithm, c.model);
    auto* const output = popen(command.c_str(), "r");
    if (output == nullptr) return -1;
    double us = -1;
    std::array<char, 1024> line{};
    while (std::fgets(line.data(), line.size(), output) != nullptr)
        if (line[0] != '#') std::sscanf(line.data(), "%*d %*d %lf", &us);
    return pclose(output) == 0 ? us : -1;
}

void measure(bench::Rows& rows, Case const& c) {
    auto const name = fmt::format("{} {}, {}, {} ranks", c.algorithm, c.op, c.model, c.ranks);
    auto const used = bench::isolated([&](auto& values) { values[0] = run(c); });
    rows.add(name, "simulated us", used.values[0], Bar::at_least, 0);
    if (c.simulated_us > 0)
        rows.add(name, "off its closed form", std::abs(used.values[0] / c.simulated_us - 1), Bar::at_most, c.tolerance);
    rows.add(name, "user CPU s", used.cpu_s, c.cpu_bar_s > 0 ? Bar::at_most : Bar::none, c.cpu_bar_s);
    rows.add(name, "peak MB", used.peak_mb, c.memory_bar_mb > 0 ? Bar::at_most : Bar::none, c.memory_bar_mb);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
    orrery::bench::Rows rows(argc, argv);
    if (!rows.usage_error())
        for (auto const& one : orrery::cases) orrery::measure(rows, one);
    return rows.finish();
}
