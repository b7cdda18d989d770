// SPDX-License-Identifier: Apache-2.0
// The time bin in which each bundle was used most.
#pragma once

#include "apps/report/run_file.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

struct LinkPeaks {
    Time bin;                         // width
    std::uint32_t bins = 0;           // in which anything was sent
    std::vector<double> share;        // by row of LinkColumns: of the capacity, in the busiest bin
    std::vector<std::uint32_t> when;  // that bin

    LinkPeaks(RunFile const& run, LinkColumns const& links);
    // Rows with traffic, those with the highest peak first, in steps of 5 % up to 95 %: among links that are full at
    // some time the order is that of their mean, then of their row.
    std::vector<std::uint32_t> hottest(LinkColumns const& links) const;
};

}  // namespace orrery
