// SPDX-License-Identifier: Apache-2.0
// CloudMatrix384: sums of rates, counts of links, latencies, achieved rates and a lost chip (arXiv:2506.12708 sec. 3).
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "apps/verify/transfers.hpp"

#include <fmt/format.h>

#include <fnmatch.h>

namespace orrery {
namespace {

std::unique_ptr<Fabric> cloudmatrix(char const* more = "") {
    return fabric_of(fmt::format("{{kind: cloudmatrix384{}}}", more));
}

struct Matched {
    double links = 0, giga_bytes_per_s = 0;
};
Matched links_named(char const* pattern) {
    auto const fabric = cloudmatrix();
    Matched matched;
    for (std::uint32_t l = 0; l < fabric->links().size(); ++l) {
        if (fnmatch(pattern, fabric->link_name(LinkId{l}).c_str(), 0) != 0) continue;
        matched.links += 1;
        matched.giga_bytes_per_s += fabric->links()[l].rate.bytes_per_s() * 1e-9;
    }
    return matched;
}

VerifyCase rate_sum(char const* name, char const* pattern, double expected) {
    return {name, "GB/s", rounding,
            [=]() -> VerifyResult { return {.expected = expected, .got = links_named(pattern).giga_bytes_per_s}; }};
}
VerifyCase link_count(char const* name, char const* pattern, double expected) {
    return {name, "links", none,
            [=]() -> VerifyResult { return {.expected = expected, .got = links_named(pattern).links}; }};
}

VerifyResult bisection() {
    return {.expected = 24 * 3136, .got = cloudmatrix()->figures().bisection.bytes_per_s() * 1e-9};
}
VerifyResult switch_chips() {
    return {.expected = 48 * 7 + 7 * 16, .got = static_cast<double>(cloudmatrix()->figures().switches)};
}

// One byte from die 0; measured 0.2, 0.7 and 2.1 us (arXiv:2607.26444 table 1). Its transmission takes 5 ps.
VerifyResult one_byte(std::uint32_t target, double expected) {
    return {.expected = expected, .got = microseconds(finish_of(*cloudmatrix(), {{0, target, 1}}))};
}
constexpr double byte_time = 1e-4;  // 5 ps on 0.2 us is 2.5e-5

VerifyResult bulk(std::uint32_t target, double giga_bytes_per_s, double latency) {
    return {.expected = 64e6 / giga_bytes_per_s * 1e-3 + latency,
            .got = microseconds(finish_of(*cloudmatrix(), {{0, target, 64'000'000}}))};
}

VerifyResult between_supernodes() {
    auto const fabric = cloudmatrix(", cloudmatrix384: {supernodes: 2}");
    return {.expected = 64e6 / (25 * 0.93) * 1e-3 + 5, .got = microseconds(finish_of(*fabric, {{0, 768, 64'000'000}}))};
}

// All 16 dies of node 0 to their twins on node 1: the node's 112 uplinks of 28 GB/s bind when one of them is lost.
VerifyResult node_to_node(char const* more, double uplinks) {
    std::vector<Transfer> transfers;
    for (std::uint32_t die = 0; die < 16; ++die) transfers.push_back({die, die + 16, 196'000'000});
    return {.expected = 16 * 196e6 / (uplinks * 28) * 1e-3 + 2.1,
            .got = microseconds(finish_of(*cloudmatrix(more), transfers))};
}

}  // namespace

std::vector<VerifyCase> cloudmatrix_cases() {
    auto const lost = ", degrade: [{links: 'sn0.n*.l1.3-l2.05.*', down: true}]";
    return {
        rate_sum("CloudMatrix384, die up: 7 x 28", "sn0.n00.d00-l1.*.up", 7 * 28),
        rate_sum("CloudMatrix384, NPU up: 2 x 196", "sn0.n00.d0[01]-l1.*.up", 2 * 196),
        rate_sum("CloudMatrix384, L1 chip to dies: 16 x 28", "sn0.n00.d*-l1.0.down", 448),
        rate_sum("CloudMatrix384, L1 chip to L2: 16 x 28", "sn0.n00.l1.0-l2.*.up", 448),
        rate_sum("CloudMatrix384, node up: 7 x 448", "sn0.n00.l1.*-l2.*.up", 3136),
        rate_sum("CloudMatrix384, CPU up: 160", "sn0.n00.c0-l1.*.up", 160),
        rate_sum("CloudMatrix384, sub-plane: 48 x 448", "sn0.n*.l1.2-l2.*.up", 21'504),
        rate_sum("CloudMatrix384, plane: 7 x 21.504 TB/s", "sn0.n*.l1.*-l2.*.up", 150'528),
        {"CloudMatrix384, bisection: 24 x 3,136", "GB/s", rounding, bisection},
        link_count("CloudMatrix384, die - L1: 768 x 7", "sn0.n*.d*-l1.*.up", 5376),
        link_count("CloudMatrix384, CPU - L1: 192 x 7", "sn0.n*.c*-l1.*.up", 1344),
        link_count("CloudMatrix384, L1 - L2: 336 x 16", "sn0.n*.l1.*-l2.*.down", 5376),
        link_count("CloudMatrix384, die - die: 384 x 2", "sn0.*.sio", 768),
        {"CloudMatrix384, switch chips: 48 x 7 + 7 x 16", "chips", none, switch_chips},
        {"CloudMatrix384, latency in a package (measured)", "us", byte_time, [] { return one_byte(1, 0.2); }},
        {"CloudMatrix384, latency in a node (measured)", "us", byte_time, [] { return one_byte(2, 0.7); }},
        {"CloudMatrix384, latency between nodes (measured)", "us", byte_time, [] { return one_byte(16, 2.1); }},
        {"CloudMatrix384, in a package: 64 MB / 270 GB/s + 0.2 us", "us", rounding, [] { return bulk(1, 270, 0.2); }},
        {"CloudMatrix384, between nodes: 64 MB / 196 GB/s + 2.1 us", "us", rounding,
         [] { return bulk(767, 196, 2.1); }},
        {"super-nodes: 64 MB / (25 GB/s x 0.93) + 5 us", "us", rounding, between_supernodes},
        {"node to node: 16 x 196 MB / (112 x 28 GB/s) + 2.1 us", "us", rounding, [] { return node_to_node("", 112); }},
        {"one L2 chip lost: 16 x 196 MB / (111 x 28 GB/s) + 2.1 us", "us", rounding,
         [lost] { return node_to_node(lost, 111); }}};
}

}  // namespace orrery
