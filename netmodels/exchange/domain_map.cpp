// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/topology/fabric.hpp"

namespace orrery {

DomainMap::DomainMap(Fabric const& fabric) : first_(fabric.domain_count() + 1, 0) {
    auto const all = fabric.bundles();
    for (auto const& bundle : all) ++first_[bundle.domain.index() + 1];
    for (std::size_t d = 1; d < first_.size(); ++d) first_[d] += first_[d - 1];
    bundles_.resize(all.size());
    local_.resize(all.size());
    auto next = first_;
    for (std::uint32_t b = 0; b < all.size(); ++b) {
        auto const d = all[b].domain.index();
        local_[b] = next[d] - first_[d];
        bundles_[next[d]++] = BundleId{b};
    }
}

std::span<BundleId const> DomainMap::bundles(DomainId domain) const {
    auto const d = domain.index();
    return std::span{bundles_}.subspan(first_[d], first_[d + 1] - first_[d]);
}

}  // namespace orrery
