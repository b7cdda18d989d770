// SPDX-License-Identifier: Apache-2.0
// Normal (high-throughput) dispatch and combine of DeepEP-Ascend (sgl-kernel-npu), for thousands of tokens per rank.
#include "workloads/operators/costs.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// The efficiencies are fitted: 146 and 125 GB/s at EP8 with 4,096 tokens per die (sgl-kernel-npu README, A3). The loop
// does not bind: 24 of 48 vector cores reach 95 % of a port (arXiv:2607.26444 fig. 6b), so one core moves
// 196 GB/s x 0.70 x 0.95 / 24 = 5.4 GB/s of payload.
OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message, double efficiency) {
    auto costs = push_by_cores(message_bytes, per_message);
    costs.loop = ExchangeLoop::overlapped;
    costs.efficiency = efficiency;
    costs.launch = 13_us;
    return costs;
}

OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return costs(int8_token(in.hidden), 1'410_ns, 0.597);
}
OperatorCostsDefault combine(OperatorInputs const& in) {
    return costs(bf16_token(in.hidden), 2'640_ns, 0.486);
}

RegisterOperator const registered{
    {"deepep_normal", "DeepEP-Ascend normal: push at the rate of many small writes", dispatch, combine}};

}  // namespace
}  // namespace orrery
