// SPDX-License-Identifier: Apache-2.0
// Low-latency dispatch and combine of DeepEP-Ascend (sgl-kernel-npu): the steps of `fused`, another software stack.
#include "workloads/operators/costs.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// Fitted: 132 us and 126 us at EP8 with 128 tokens per die (sgl-kernel-npu README, A3). Assumed: the combine
// differs from that of `fused` in its launch only; what the dispatch takes beyond that is in its loop.
OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message) {
    auto costs = push_by_cores(message_bytes, per_message);
    costs.launch = 13_us;
    return costs;
}

OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return costs(int8_token(in.hidden), 2'589_ns);
}
OperatorCostsDefault combine(OperatorInputs const& in) {
    return costs(bf16_token(in.hidden), 528_ns);
}

RegisterOperator const registered{{"deepep", "DeepEP-Ascend low latency: push, one flag per peer", dispatch, combine}};

}  // namespace
}  // namespace orrery
