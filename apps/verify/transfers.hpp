// SPDX-License-Identifier: Apache-2.0
// Point-to-point transfers over a fabric, moved by the network models without any workload around them.
#pragma once

#include "core/units.hpp"
#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

struct Transfer {
    std::uint32_t source = 0, target = 0;  // ranks
    std::int64_t bytes = 0;
    Time start{};
    std::uint32_t weight = 1;
};

enum class NetworkModel : std::uint8_t { flow, analytic };

// When the last byte of each transfer arrives: the end of its transmission plus the latency of its route, the
// definition that the operators of the product use as well. One engine per domain that carries a transfer.
std::vector<Time> run_transfers(Fabric const& fabric, std::vector<Transfer> const& transfers,
                                NetworkModel model = NetworkModel::flow);

// The latest of them.
Time finish_of(Fabric const& fabric, std::vector<Transfer> const& transfers, NetworkModel model = NetworkModel::flow);

}  // namespace orrery
