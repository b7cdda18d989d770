// SPDX-License-Identifier: Apache-2.0
// What the variants share: sizes of messages, what a port achieves, costs of a kernel on vector cores.
#pragma once

#include "workloads/operators/operator.hpp"

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

// A push by vector cores; a variant changes what it does otherwise. Inferred: a core waits for its own remote write
// before it takes the next token, so loop and wire add up. Bounded by the larger of the two, a dispatch would hardly
// grow from EP8 to EP32, and it is measured to (docs/accuracy.md).
constexpr OperatorCostsDefault push_by_cores(std::int64_t message_bytes, Time per_message) {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::prepared,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = message_bytes,
            .efficiency = write_efficiency,
            .launch = kernel_launch,
            .per_message = per_message,
            .per_peer = flag,
            .finish = sync_and_exit};
}

}  // namespace orrery::operator_costs
