// SPDX-License-Identifier: Apache-2.0
// HCCL all-to-all-v between separate permutation kernels: BF16 both ways, counts exchanged first.
#include "workloads/operators/costs.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// Not calibrated: no published measurement of this sequence on the machine says which constant is which.
// per_message: the permutation reads and writes a token in HBM, shared by 48 cores: 2 x 14,336 B x 48 / 1.35 TB/s.
OperatorCostsDefault costs(OperatorInputs const& in) {
    auto costs = push_by_cores(bf16_token(in.hidden), 1'020_ns);
    costs.shares = ExchangeShares::equal;
    costs.launch = 3 * sync_and_exit;  // permute, exchange counts, start: three operators one after the other
    return costs;
}

RegisterOperator const registered{
    {"alltoall", "permute, exchange counts, all-to-all-v in BF16, permute back", costs, costs}};

}  // namespace
}  // namespace orrery
