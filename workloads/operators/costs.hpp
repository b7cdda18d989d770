// SPDX-License-Identifier: Apache-2.0
// What the variants share: sizes of messages, what a port achieves, costs of a kernel on vector cores.
#pragma once

#include "core/units.hpp"

#include <cstdint>

// docs/operators.md names the source of each figure; docs/accuracy.md says how the fitted ones were found.
namespace orrery::operator_costs {

using namespace literals;

// A token in INT8 and its scale, padded to 512 B: 7,680 B at hidden size 7,168 (arXiv:2506.12708 sec. 4.2).
constexpr std::int64_t int8_token(std::uint32_t hidden) {
    return (static_cast<std::int64_t>(hidden) + 511) / 512 * 512 + 512;
}
constexpr std::int64_t bf16_token(std::uint32_t hidden) {
    return static_cast<std::int64_t>(hidden) * 2;
}

// MemFabric between HBMs of two nodes (A3): writes 138.0, reads 166.5 of a die's 196 GB/s.
constexpr double write_efficiency = 0.70;
constexpr double read_efficiency = 0.85;

constexpr Time kernel_launch = 5_us;  // msmodeling device.py, static cost of a kernel
// Fitted: combine of XCCL at EP288 (arXiv:2508.02520 fig. 20, minimum 165 us); 0.10 us per peer on 48 cores.
constexpr Time flag = 5'000_ns;
// SyncAll is 15 % of a dispatch (arXiv:2607.06202): 17.4 us of 116 us. That it all falls at the end is inferred.
constexpr Time sync_and_exit = 17'400_ns;

}  // namespace orrery::operator_costs
