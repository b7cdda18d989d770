// SPDX-License-Identifier: Apache-2.0
// The result screen, whole, and its limits: 80 columns, 40 lines, plain ASCII.
#include "io/summary/screen.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace orrery {
namespace {

Summary::Operation operation(std::string name, double mean, double bound, std::string by) {
    Summary::Operation o;
    o.name = std::move(name);
    o.count = 18560;
    o.mean_s = mean;
    o.p50_s = mean * 0.98;
    o.p99_s = mean * 1.1;
    o.max_s = mean * 1.234;
    o.bound_s = bound;
    o.bound_by = std::move(by);
    return o;
}

Summary example() {
    Summary s;
    s.digest = "00112233445566778899aabbccddeeff";
    s.complete = true;
    s.processes = 2;
    s.simulated_time_s = 0.05812;
    s.step_time_s = 0.0581;
    s.wall_s = 12.345;
    s.cpu_s = 21.5;
    s.peak_rss_bytes = 412'300'000;
    s.events = 1'234'567;
    s.flows = 98'765;
    s.network_model = "flow";
    s.fabric = "cloudmatrix384";
    s.model = "DeepSeek-R1";
    s.conservation = {.injected_bytes = 7'864'320, .delivered_bytes = 7'864'320};
    s.operations = {
        operation("attention", 180e-6, 150e-6, "HBM"),        operation("gate", 8e-6, 0, ""),
        operation("dispatch", 116e-6, 61e-6, "ub.die-l1.up"), operation("experts", 95e-6, 80e-6, "HBM"),
        operation("combine", 118e-6, 96e-6, "fixed cost"),    operation("shared_expert", 20e-6, 18e-6, "cube")};
    s.operations[2].wait_mean_s = 29e-6;
    s.operations[2].exposed_share = 1;
    s.operations[2].bound_link = "sn0.n03.d05-l1.*.up";
    s.operations[4].exposed_share = 0.25;
    s.links = {{"sn0.n03.d05-l1.up", 12'345'678, 0.5312},
               {"sn0.n04.d01-l1.up", 12'000'000, 0.51},
               {"sn0.n00.d00-l1.down", 11'000'000, 0.4},
               {"sn0.n00.d01-l1.down", 10'000'000, 0.3}};
    s.imbalance = {1.208, 1.242};
    s.ignored = {"network.mtu (the flow model has no packets)"};
    return s;
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(Screen, Golden) {
    std::string const expected = R"(cloudmatrix384_decode
DeepSeek-R1 on cloudmatrix384
network: flow
Step time 58.1 ms   (simulated 58.12 ms, 1,234,567 events, 98,765 flows)

operation         mean      p50      p99      max exp.    bound  bound by
attention       180 us 176.4 us   198 us 222.1 us    -   150 us  HBM
gate              8 us  7.84 us   8.8 us 9.872 us    -        -  -
dispatch        116 us 113.7 us 127.6 us 143.1 us 100%    61 us  ub.die-l1.up
experts          95 us  93.1 us 104.5 us 117.2 us    -    80 us  HBM
combine         118 us 115.6 us 129.8 us 145.6 us  25%    96 us  fixed cost
shared_expert    20 us  19.6 us    22 us 24.68 us    -    18 us  cube
dispatch: waiting for peers 29 us (25.0 %), transfer 87 us
  bound most often by sn0.n03.d05-l1.*.up
combine: waiting for peers 0 ps (0.0 %), transfer 118 us

hottest links                                                bytes   utilisation
  sn0.n03.d05-l1.up                                       12.35 MB        53.1 %
  sn0.n04.d01-l1.up                                          12 MB        51.0 %
  sn0.n00.d00-l1.down                                        11 MB        40.0 %

Imbalance (max/mean): ranks 1.208, experts 1.242
Bytes: 7864320 injected = 7864320 delivered + 0 dropped + 0 in flight
Ignored or without effect:
  network.mtu (the flow model has no packets)
Wall 12.35 s, CPU 21.50 s, memory 412.3 MB, 2 processes
Timeline: out/run.h5
digest: 00112233445566778899aabbccddeeff
)";
    EXPECT_EQ(render_screen(example(), {.scenario = "cloudmatrix384_decode", .output = "out/run.h5"}), expected);
}

TEST(Screen, StaysWithin80ColumnsAnd40LinesAndAscii) {
    auto s = example();
    std::string const longer(200, 'n');
    s.complete = false;
    s.model = s.fabric = s.network_model = longer;
    s.conservation = {.injected_bytes = 9'000'000'000'000'000'000, .delivered_bytes = 9'000'000'000'000'000'000};
    while (s.operations.size() < 7) s.operations.push_back(operation(longer, 1234.5, 999.9, longer));
    for (auto& link : s.links) link.name = longer;
    s.ignored.assign(9, longer + "\u00e9\n");
    s.warnings.assign(9, longer);
    auto const lines = lines_of(render_screen(s, {.scenario = longer, .output = longer}));
    EXPECT_LE(lines.size(), 40U);
    for (auto const& line : lines) {
        EXPECT_LE(line.size(), 80U) << line;
        EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
    }
    EXPECT_EQ(lines.back(), "digest: 00112233445566778899aabbccddeeff");
    EXPECT_EQ(std::ranges::count(lines, "       + 0 dropped + 0 in flight"), 1);
    EXPECT_EQ(std::ranges::count(lines, "  and 7 more in summary.json"), 1);
    EXPECT_EQ(std::ranges::count(lines, "  and 8 more in summary.json"), 1);
}

TEST(Screen, APacketRunStaysWithin40LinesAndShowsQueuesAndFlowTimes) {
    auto s = example();
    s.complete = false;
    while (s.operations.size() < 7) s.operations.push_back(s.operations[0]);
    s.operations[4].bound_link = "sn0.n03.d05-l1.*.up";
    s.conservation = {.injected_bytes = 9'000'000'000'000'000'000, .delivered_bytes = 9'000'000'000'000'000'000};
    s.ignored.assign(9, std::string(200, 'n'));
    s.warnings.assign(9, std::string(200, 'n'));
    s.packets.injected = 1'000'000'000'000;
    s.packets.flow_time_s.p99 = 123e-6;
    s.packets.slowdown.p99 = 4.5;
    s.packets.notes = {"no pauses: maximum queue 41 kB, threshold 125 kB from one input link"};
    s.links[0].max_queue_bytes = 41'000;
    auto const text = render_screen(s, {.scenario = "s", .output = "o"});
    EXPECT_LE(lines_of(text).size(), 40U);
    for (auto const* part : {"max queue", "41 kB\n", "p99 123 us; slowdown", "p99 4.50", s.packets.notes[0].c_str(),
                             "1,000,000,000,000 sent"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Screen, SaysWhenTheRunIsIncompleteOrBytesAreMissing) {
    auto s = example();
    s.complete = false;
    s.conservation.delivered_bytes -= 1;
    auto const text = render_screen(s, {});
    EXPECT_NE(text.find("INCOMPLETE"), std::string::npos);
    EXPECT_NE(text.find("7864320 injected != 7864319 delivered"), std::string::npos);
}

TEST(Screen, LongNamesLoseTheirMiddle) {
    EXPECT_EQ(shorten("sn0.n03.d05-l1.2.up", 10), "sn0...2.up");
    EXPECT_EQ(shorten("short", 5), "short");
    EXPECT_EQ(shorten("abcdefgh", 5), "ab..h");
}

}  // namespace
}  // namespace orrery
