// SPDX-License-Identifier: Apache-2.0
// HCCL all-to-all-v between separate permutation kernels: BF16 both ways, counts exchanged first.
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace literals;

OperatorCostsDefault costs(OperatorInputs const& in) {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::prepared,
            .shares = ExchangeShares::equal,
            .message_bytes = static_cast<std::int64_t>(in.hidden) * 2,
            .efficiency = 0.70,
            .launch = 30_us,
            .per_message = 1'000_ns,
            .per_peer = 4'800_ns,
            .finish = 10_us};
}

RegisterOperator const registered{
    {"alltoall", "permute, exchange counts, all-to-all-v in BF16, permute back", costs, costs}};

}  // namespace
}  // namespace orrery
