// SPDX-License-Identifier: Apache-2.0
// XCCL dispatch and combine (arXiv:2508.02520 sec. 3.2): announce, meet, then read from every peer.
#include "workloads/operators/costs.hpp"
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message) {
    return {.style = ExchangeStyle::pull,
            .loop = ExchangeLoop::prepared,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = message_bytes,
            .efficiency = read_efficiency,
            .launch = kernel_launch,
            .per_message = per_message,
            .per_peer = flag,
            .finish = sync_and_exit};
}

// Fitted: 185 us at EP288 with 60 sequences of two tokens per die (arXiv:2508.02520 fig. 20, minimum).
OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return costs(int8_token(in.hidden), 3'318_ns);
}
// The loop is that of `fused`; the row of this operator (165 us) gave the cost of a flag.
OperatorCostsDefault combine(OperatorInputs const& in) {
    return costs(bf16_token(in.hidden), 528_ns);
}

RegisterOperator const registered{{"pull", "announce to every peer, barrier, then read", dispatch, combine}};

}  // namespace
}  // namespace orrery
