// SPDX-License-Identifier: Apache-2.0
// FusedDispatch and FusedCombine (arXiv:2506.12708 sec. 4.2): vector cores write straight into remote memory.
#include "workloads/operators/costs.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// Fitted: 116 us and 118 us at EP8 with 128 tokens per die (arXiv:2506.12708 tables 6 and 7).
OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return push_by_cores(int8_token(in.hidden), 2'226_ns);
}
OperatorCostsDefault combine(OperatorInputs const& in) {
    return push_by_cores(bf16_token(in.hidden), 528_ns);
}

RegisterOperator const registered{{"fused", "push into remote memory, one flag per peer", dispatch, combine}};

}  // namespace
}  // namespace orrery
