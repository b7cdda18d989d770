// SPDX-License-Identifier: Apache-2.0
// The bundles of routes that are too long for a packet to carry: computed again from the fabric, with the latest kept.
#pragma once

#include "core/ids.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// A route is a function of its two ends, so nothing of it needs to be saved, sent to another process or given back: a
// table of fixed size holds those in use, and what another route has taken the place of is asked for once more.
class LongRoutes {
  public:
    LongRoutes(Fabric const& fabric, DomainMap const& map) : fabric_(&fabric), map_(&map) {}

    // Local bundles in order of travel; until the next call.
    std::span<std::uint32_t const> hops(RankId source, RankId target) {
        auto const key = static_cast<std::uint64_t>(source.value()) << 32 | target.value();
        auto const place = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15U >> (64 - place_bits));
        if (entries_.empty() || entries_[place].key != key) [[unlikely]]
            fill(place, source, target);
        return {hops_.data() + place * stride_, entries_[place].count};
    }

  private:
    static constexpr int place_bits = 13;
    static constexpr std::size_t places = std::size_t{1} << place_bits;
    struct Entry {
        std::uint64_t key = ~std::uint64_t{0};
        std::uint32_t count = 0;
    };

    void fill(std::size_t place, RankId source, RankId target);

    Fabric const* fabric_;
    DomainMap const* map_;
    std::vector<Entry> entries_;       // none until a route is asked for
    std::vector<std::uint32_t> hops_;  // `stride_` per place
    std::size_t stride_ = 0;
};

}  // namespace orrery
