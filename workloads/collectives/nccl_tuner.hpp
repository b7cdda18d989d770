// SPDX-License-Identifier: Apache-2.0
// Which algorithm and protocol NCCL would take, by the rule and the constants of its tuner.
#pragma once

#include "workloads/collectives/protocol.hpp"
#include "workloads/collectives/shape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// What the tuner knows of a machine. Rates in GB/s (1e9), as its own constants are.
struct NcclHardware {
    std::string name;           // "H100"
    std::string architecture;   // "Ampere", "Hopper", "Blackwell"
    double node_bandwidth = 0;  // of one rank inside a node: NVLinks times the tuner's rate of one
    double net_bandwidth = 0;   // of all network ports of a node
    int channels = 0;
    bool in_switch = false;  // the switch can reduce
};
// A100, H100, H200, B200, GB200. An unknown name is an InputError with the nearest names.
NcclHardware const& nccl_hardware(std::string_view name);
std::vector<std::string> nccl_hardware_names();

enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
char const* name_of(NcclProtocol);  // "LL"
// Framing, launch and latencies of a protocol on a ring, for the simulator. An unknown name is an InputError.
CollectiveProtocol nccl_protocol(std::string_view name);

// What a ring inside one node reaches, in GB/s.
double nccl_bandwidth(NcclHardware const& hardware, NcclProtocol protocol);

struct NcclChoice {
    std::string algorithm;  // ours: "ring", "double_binary_tree", "in_switch", "direct"
    NcclProtocol protocol{};
    double microseconds = 0;  // what the tuner believes it takes
};
struct NcclQuestion {
    CollectiveOp op{};
    std::uint32_t members = 1, nodes = 1;
    std::int64_t bytes = 0;
    int element_bytes = 2;  // the switch adds 16- and 32-bit numbers only
};
// Every way open to it, and the one it takes: the least time, the first of equals.
std::vector<NcclChoice> nccl_options(NcclHardware const& hardware, NcclQuestion const& question);
NcclChoice nccl_choice(NcclHardware const& hardware, NcclQuestion const& question);

}  // namespace orrery
