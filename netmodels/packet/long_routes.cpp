// SPDX-License-Identifier: Apache-2.0
// Asking the fabric for a route that the table does not hold.
#include "netmodels/packet/long_routes.hpp"

#include <bit>

namespace orrery {

void LongRoutes::fill(std::size_t place, RankId source, RankId target) {
    auto const route = fabric_->route(source, target);
    auto const bundles = route.bundles();
    if (bundles.size() > stride_) {  // longer than any before: all are asked for again
        stride_ = std::bit_ceil(bundles.size());
        entries_.assign(places, {});
        hops_.assign(places * stride_, 0);
    }
    for (std::size_t i = 0; i < bundles.size(); ++i) hops_[place * stride_ + i] = map_->local(bundles[i]);
    entries_[place] = {.key = static_cast<std::uint64_t>(source.value()) << 32 | target.value(),
                       .count = static_cast<std::uint32_t>(bundles.size())};
}

}  // namespace orrery
