// SPDX-License-Identifier: Apache-2.0
// FusedDispatch and FusedCombine (arXiv:2506.12708 sec. 4.2): vector cores write straight into remote memory.
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace literals;

// A message is the token in INT8 plus its scale, padded to 512 B (7,680 B at hidden size 7,168).
std::int64_t dispatch_message(std::uint32_t hidden) {
    return (static_cast<std::int64_t>(hidden) + 511) / 512 * 512 + 512;
}
std::int64_t combine_message(std::uint32_t hidden) {
    return static_cast<std::int64_t>(hidden) * 2;
}  // BF16

OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::overlapped,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = dispatch_message(in.hidden),
            .efficiency = 0.70,
            .launch = 10_us,
            .per_message = 4'000_ns,
            .per_peer = 4'800_ns,
            .finish = 8_us};
}

OperatorCostsDefault combine(OperatorInputs const& in) {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::overlapped,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = combine_message(in.hidden),
            .efficiency = 0.70,
            .launch = 10_us,
            .per_message = 1'000_ns,
            .per_peer = 4'800_ns,
            .finish = 8_us};
}

RegisterOperator const registered{{"fused", "push into remote memory, one flag per peer", dispatch, combine}};

}  // namespace
}  // namespace orrery
