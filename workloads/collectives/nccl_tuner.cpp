// SPDX-License-Identifier: Apache-2.0
// Constants and formulas: NVIDIA/nccl, src/graph/tuning.cc and topo.h, commit 5067397c.
#include "workloads/collectives/nccl_tuner.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>

namespace orrery {
namespace {

// 12, 18 and 18 NVLinks at 20.0, 20.6 and 40.1 GB/s; eight network ports of 200 or 400 Gb/s (four ranks per GB200
// tray).
std::vector<NcclHardware> const machines = {{"A100", "Ampere", 240.0, 8 * 25.0, 12, false},
                                            {"H100", "Hopper", 370.8, 8 * 50.0, 16, true},
                                            {"H200", "Hopper", 370.8, 8 * 50.0, 16, true},
                                            {"B200", "Blackwell", 721.8, 8 * 50.0, 12, true},
                                            {"GB200", "Blackwell", 721.8, 4 * 50.0, 12, true}};

struct PerProtocol {
    double ll, ll128, simple;
    double of(NcclProtocol p) const { return p == NcclProtocol::ll ? ll : p == NcclProtocol::ll128 ? ll128 : simple; }
};
constexpr PerProtocol ring_base = {6.6, 14.0, 8.4}, tree_base = {6.8, 14.0, 8.4};  // us
constexpr PerProtocol ring_node = {0.6, 1.9, 3.4}, tree_node = {0.6, 1.25, 4.0};   // us per step over NVLink
constexpr PerProtocol ring_net = {2.7, 4.0, 14.0}, tree_net = {5.0, 8.5, 14.0};    // us per step over the network
constexpr double in_switch_base = 25.0;                                            // us, NVLS
constexpr double net_post = 1.0;                                                   // us, three times that for Simple

// GB/s on one node, on two, and on more.
using ByNodes = std::array<double, 3>;
struct Caps {
    ByNodes ll_most, ring_ll128_channel, tree_ll128_channel, tree_channel;
    double in_switch_efficiency;
};
Caps const& caps_of(std::string const& architecture) {
    static constexpr Caps ampere = {{87.7, 22.5, 19.0}, {20, 20, 20}, {20, 20, 20}, {24, 23.6, 17.8}, 0};
    static constexpr Caps hopper = {{141, 45, 35}, {36.7, 36.7, 36.7}, {36.7, 36.7, 29}, {38.7, 41.4, 36}, 0.85};
    static constexpr Caps blackwell = {{282, 90, 70}, {40, 40, 40}, {55.6, 31.67, 20}, {70, 42.8, 24}, 0.74};
    return architecture == "Ampere" ? ampere : architecture == "Hopper" ? hopper : blackwell;
}

// How much of its bandwidth a tree reaches at 64 B, 128 B, ... 512 MiB.
constexpr int tree_sizes = 24;
constexpr std::array<std::array<double, tree_sizes>, 3> tree_factor = {
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

double correction(NcclProtocol protocol, std::int64_t bytes) {
    auto const size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes >> 6))) - 1;
    return tree_factor[static_cast<std::size_t>(protocol)]
                      [static_cast<std::size_t>(std::clamp(size, 0, tree_sizes - 1))];
}

double microseconds_for(std::int64_t bytes, double gigabytes_per_s) {
    return static_cast<double>(bytes) / 1e3 / gigabytes_per_s;
}

double ring_bandwidth(NcclHardware const& hardware, std::uint32_t nodes, NcclProtocol p) {
    auto const& caps = caps_of(hardware.architecture);
    auto const by_nodes = std::min<std::size_t>(nodes, 3) - 1;
    auto const wires = nodes > 1 ? std::min(hardware.node_bandwidth, hardware.net_bandwidth) : hardware.node_bandwidth;
    if (p == NcclProtocol::ll) return std::min(caps.ll_most[by_nodes], wires * 0.5);
    if (p == NcclProtocol::ll128) return std::min(wires * 0.92, hardware.channels * caps.ring_ll128_channel[by_nodes]);
    return wires;
}

double ring_time(NcclHardware const& hardware, NcclQuestion const& q, NcclProtocol p) {
    bool const twice = q.op == CollectiveOp::all_reduce;
    double const steps = (twice ? 2.0 : 1.0) * (q.members - 1);
    double const across = q.nodes == 1 ? 0 : twice ? 2.0 * q.nodes : q.nodes - 1.0;
    auto inside = ring_node.of(p);
    if (q.nodes > 1) inside = std::max(inside, net_post * (p == NcclProtocol::simple ? 3 : 1));
    auto const first = q.nodes > 1 ? ring_net.of(p) : ring_node.of(p);
    return ring_base.of(p) + first + (steps - across) * inside + across * ring_net.of(p) +
           microseconds_for(q.bytes, ring_bandwidth(hardware, q.nodes, p) * q.members / steps);
}

double tree_time(NcclHardware const& hardware, NcclQuestion const& q, NcclProtocol p) {
    auto const& caps = caps_of(hardware.architecture);
    auto const by_nodes = std::min<std::size_t>(q.nodes, 3) - 1;
    auto bandwidth = q.nodes > 1 ? std::min(hardware.node_bandwidth, hardware.net_bandwidth) : hardware.node_bandwidth;
    bandwidth = std::min(bandwidth * 0.92, hardware.channels * caps.tree_channel[by_nodes]);
    if (p == NcclProtocol::ll) bandwidth = std::min(bandwidth / 3.8, caps.ll_most[by_nodes]);
    if (p == NcclProtocol::ll128)
        bandwidth = std::min(bandwidth * (q.nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                             hardware.channels * caps.tree_ll128_channel[by_nodes]);
    if (p == NcclProtocol::simple) bandwidth *= 0.85;
    auto const per_node = static_cast<double>(q.members) / q.nodes;
    return tree_base.of(p) + 2 * ((per_node - 1) * tree_node.of(p) + std::floor(std::log2(q.nodes)) * tree_net.of(p)) +
           microseconds_for(q.bytes, bandwidth * 0.5 * correction(p, q.bytes));
}

bool has_rings(CollectiveOp op) {
    return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter || op == CollectiveOp::all_gather;
}

}  // namespace

NcclHardware const& nccl_hardware(std::string_view name) {
    NearestNames nearest(name);
    for (auto const& machine : machines) {
        if (machine.name == name) return machine;
        nearest.offer(machine.name);
    }
    throw InputError(fmt::format("the hardware is '{}' (no tuning for it); did you mean {}?", name, nearest.text()));
}

std::vector<std::string> nccl_hardware_names() {
    std::vector<std::string> names;
    for (auto const& machine : machines) names.push_back(machine.name);
    return names;
}

char const* name_of(NcclProtocol protocol) {
    return protocol == NcclProtocol::ll ? "LL" : protocol == NcclProtocol::ll128 ? "LL128" : "Simple";
}

CollectiveProtocol nccl_protocol(std::string_view name) {
    for (auto const p : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
        if (name != name_of(p)) continue;
        return {.name = name_of(p),
                .wire_bytes = p == NcclProtocol::ll      ? 2
                              : p == NcclProtocol::ll128 ? 16
                                                         : 1,
                .data_bytes = p == NcclProtocol::ll128 ? 15 : 1,
                .launch = Time::from_seconds(ring_base.of(p) * 1e-6),
                .near = Time::from_seconds(ring_node.of(p) * 1e-6),
                .far = Time::from_seconds(ring_net.of(p) * 1e-6)};
    }
    if (name == "none") return {};
    throw InputError(fmt::format("the protocol is '{}' (no such protocol); take LL, LL128, Simple or none", name));
}

double nccl_bandwidth(NcclHardware const& hardware, NcclProtocol protocol) {
    return ring_bandwidth(hardware, 1, protocol);
}

std::vector<NcclChoice> nccl_options(NcclHardware const& hardware, NcclQuestion const& q) {
    ORRERY_ENSURE(q.members > 1 && q.nodes >= 1, "a question about {} members on {} nodes", q.members, q.nodes);
    if (q.op == CollectiveOp::broadcast || q.op == CollectiveOp::reduce) return {{"ring", NcclProtocol::simple, 0}};
    if (q.op == CollectiveOp::barrier) return {{"binomial_tree", NcclProtocol::ll, 0}};
    if (!has_rings(q.op)) return {{"direct", NcclProtocol::simple, 0}};
    std::vector<NcclChoice> options;
    for (auto const p : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
        options.push_back({"ring", p, ring_time(hardware, q, p)});
        if (q.op == CollectiveOp::all_reduce) options.push_back({"double_binary_tree", p, tree_time(hardware, q, p)});
    }
    bool const adds = q.element_bytes == 2 || q.element_bytes == 4;
    if (q.op == CollectiveOp::all_reduce && hardware.in_switch && q.nodes == 1 && q.members > 2 && adds)
        options.push_back({"in_switch", NcclProtocol::simple,
                           in_switch_base + microseconds_for(q.bytes + q.bytes / q.members,
                                                             hardware.node_bandwidth *
                                                                 caps_of(hardware.architecture).in_switch_efficiency)});
    return options;
}

NcclChoice nccl_choice(NcclHardware const& hardware, NcclQuestion const& question) {
    auto const options = nccl_options(hardware, question);
    return *std::min_element(options.begin(), options.end(),
                             [](NcclChoice const& a, NcclChoice const& b) { return a.microseconds < b.microseconds; });
}

}  // namespace orrery
