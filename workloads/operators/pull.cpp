// SPDX-License-Identifier: Apache-2.0
// XCCL dispatch and combine (arXiv:2508.02520 sec. 3.2): announce, meet, then read from every peer.
#include "workloads/operators/operator.hpp"

namespace orrery {
namespace {

using namespace literals;

OperatorCostsDefault costs(std::int64_t message_bytes, Time per_message) {
    return {.style = ExchangeStyle::pull,
            .loop = ExchangeLoop::prepared,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = message_bytes,
            .efficiency = 0.85,  // reads reach more of a port than writes: 166.5 against 138.0 GB/s (MemFabric, A3)
            .launch = 10_us,
            .per_message = per_message,
            .per_peer = 4'800_ns,
            .finish = 8_us};
}

OperatorCostsDefault dispatch(OperatorInputs const& in) {
    return costs((static_cast<std::int64_t>(in.hidden) + 511) / 512 * 512 + 512, 4'000_ns);
}
OperatorCostsDefault combine(OperatorInputs const& in) {
    return costs(static_cast<std::int64_t>(in.hidden) * 2, 1'000_ns);
}

RegisterOperator const registered{{"pull", "announce to every peer, barrier, then read", dispatch, combine}};

}  // namespace
}  // namespace orrery
