// SPDX-License-Identifier: Apache-2.0
// XCCL dispatch and combine (arXiv:2508.02520 sec. 3.2): announce, meet, then read from every peer.
#include "workloads/operators/costs.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message) {
    auto costs = push_by_cores(message_bytes, per_message);
    costs.style = ExchangeStyle::pull;
    costs.efficiency = read_efficiency;
    return costs;
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
