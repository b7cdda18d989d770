// SPDX-License-Identifier: Apache-2.0
// FusedDispatch and FusedCombine (arXiv:2506.12708 sec. 4.2): vector cores write straight into remote memory.
#include "workloads/operators/costs.hpp"
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// Inferred: a core waits for its own remote write before it takes the next token, so loop and wire add up. Bounded by
// the larger of the two, a dispatch would hardly grow from EP8 to EP32, and it is measured to (docs/accuracy.md).
OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message) {
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

// Fitted: 116 us and 118 us at EP8 with 128 tokens per die (arXiv:2506.12708 tables 6 and 7).
OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return costs(int8_token(in.hidden), 2'226_ns);
}
OperatorCostsDefault combine(OperatorInputs const& in) {
    return costs(bf16_token(in.hidden), 528_ns);
}

RegisterOperator const registered{{"fused", "push into remote memory, one flag per peer", dispatch, combine}};

}  // namespace
}  // namespace orrery
