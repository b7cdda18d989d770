// SPDX-License-Identifier: Apache-2.0
// HCCL all-to-all-v between separate permutation kernels: BF16 both ways, counts exchanged first.
#include "workloads/operators/costs.hpp"
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace operator_costs;

// Not calibrated: no published measurement of this sequence on the machine says which constant is which.
// per_message: the permutation reads and writes a token in HBM, shared by 48 cores: 2 x 14,336 B x 48 / 1.35 TB/s.
OperatorCostsDefault costs(OperatorInputs const& in) {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::prepared,
            .shares = ExchangeShares::equal,
            .message_bytes = bf16_token(in.hidden),
            .efficiency = write_efficiency,
            .launch = 3 * sync_and_exit,  // permute, exchange counts, start: three operators one after the other
            .per_message = 1'020_ns,
            .per_peer = flag,
            .finish = sync_and_exit};
}

RegisterOperator const registered{
    {"alltoall", "permute, exchange counts, all-to-all-v in BF16, permute back", costs, costs}};

}  // namespace
}  // namespace orrery
