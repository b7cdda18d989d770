// SPDX-License-Identifier: Apache-2.0
// Which algorithm to take when none is named.
#pragma once

#include "core/units.hpp"
#include "workloads/collectives/shape.hpp"

#include <string>

namespace orrery {

struct AlgorithmChoice {
    std::string algorithm;  // as plan_collective takes it
    std::string reason;     // "fewest us by its closed form: 2 a + 2 (n-1)/n S/B"
};

// HCCL's documented rule: a full mesh inside a server; between servers recursive halving and doubling for a power of
// two, a ring for up to eight others, NHR for more; AHC where servers differ in size; pairwise all-to-all between
// servers. (hiascend.com, environment variable HCCL_ALGO, CANN 8.2: defaults of level1 and level2, and what each
// suits.)
AlgorithmChoice hccl_choice(CollectiveShape const& shape);

// The least closed form among all algorithms that can, with one latency and one rate for every port; the first by name
// of equals. Those that need a reducing switch are left out.
AlgorithmChoice least_closed_form(CollectiveShape const& shape, Time latency, Rate port);

}  // namespace orrery
