// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/alias_table.hpp"

#include "core/check.hpp"
#include "core/units.hpp"

#include <limits>
#include <numeric>

namespace orrery {

AliasTable::AliasTable(std::vector<std::uint64_t> const& weights) {
    ORRERY_ENSURE(!weights.empty() && weights.size() <= std::numeric_limits<std::uint16_t>::max(), "{} entries",
                  weights.size());
    auto const n = static_cast<std::uint32_t>(weights.size());
    std::uint64_t const total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    std::uint64_t const full = total > 0 ? total : 1;  // the mass of a cell, where an entry has weight * n
    std::vector<UInt128> mass(n);
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t i = n; i-- > 0;) {
        mass[i] = total > 0 ? static_cast<UInt128>(weights[i]) * n : 1;
        (mass[i] < full ? small : large).push_back(i);
    }
    cells_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) cells_[i] = {0, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i)};
    while (!small.empty() && !large.empty()) {
        std::uint32_t const poor = small.back();
        std::uint32_t const rich = large.back();
        small.pop_back();
        cells_[poor].keep_below = static_cast<std::uint32_t>((mass[poor] << 32) / full);
        cells_[poor].other = static_cast<std::uint16_t>(rich);
        mass[rich] -= full - mass[poor];
        if (mass[rich] < full) {
            large.pop_back();
            small.push_back(rich);
        }
    }
}

}  // namespace orrery
