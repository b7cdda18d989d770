// SPDX-License-Identifier: Apache-2.0
// What a site has told of the levels of its bundles, and whom it still owes.
#pragma once

#include "netmodels/exchange/site_map.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// A site that serves a transfer must know the levels of the transfer's other bundles, until both it and their owner
// have served it: one that lags behind must learn that the owner is done. So an owner counts two per transfer, bundle
// and other site. A start makes what was told before void: the other site may have forgotten it.
class LevelBook {
  public:
    // A level is told again when it has moved by more than this part of what was told.
    static constexpr std::int64_t parts = 1024;

    LevelBook(SiteMap const& map, SiteId me)
        : map_(&map),
          me_(me),
          site_(&map.site(me)),
          peers_(site_->peers.size()),
          entries_(site_->bundles.size() * peers_) {}

    void begin(Route const& route, SiteMap::Way const& way) {
        for_entries(route, way, [](Entry& entry) {
            entry.owed += 2;
            entry.told = never;
        });
    }
    // This site has served a transfer.
    void served(Route const& route, SiteMap::Way const& way) {
        for_entries(route, way, [](Entry& entry) { settle_one(entry); });
    }
    // Another one has.
    void served_by(Route const& route, SiteId other) {
        auto const peer = site_->peer_index(other);
        for (auto const hop : route.bundles())
            if (map_->binds(hop) && map_->owner(hop) == me_)
                settle_one(entries_[map_->index_at_owner(hop) * peers_ + peer]);
    }

    // tell(index, level) for every level that this peer should hear; level_of(index) is the present one.
    template <class LevelOf, class Tell>
    void news_for(std::uint32_t peer, LevelOf const& level_of, Tell const& tell) {
        for (std::uint32_t index = 0; index < site_->bundles.size(); ++index) {
            auto& entry = entries_[index * peers_ + peer];
            if (entry.owed == 0) continue;
            auto const level = level_of(index);
            if (!moved(entry.told, level)) continue;
            entry.told = level;
            tell(index, level);
        }
    }
    static bool moved(std::int64_t told, std::int64_t level) {
        if (told == level) return false;
        if (told == never || told == MaxMinKernel::unbounded || level == MaxMinKernel::unbounded) return true;
        return (level > told ? level - told : told - level) > told / parts;
    }
    static constexpr std::int64_t never = -1;  // nothing was told
    void state(StateStream& stream) { stream(entries_); }

  private:
    struct Entry {
        std::int64_t told = never;
        std::uint32_t owed = 0;
    };

    static void settle_one(Entry& entry) {
        ORRERY_ENSURE(entry.owed > 0, "a site served more transfers than began");
        --entry.owed;
    }
    // One per own bundle of the route and other site of the way.
    template <class Change>
    void for_entries(Route const& route, SiteMap::Way const& way, Change const& change) {
        for (auto const other : way.all()) {
            if (other == me_) continue;
            auto const peer = site_->peer_index(other);
            for (auto const hop : route.bundles())
                if (map_->binds(hop) && map_->owner(hop) == me_)
                    change(entries_[map_->index_at_owner(hop) * peers_ + peer]);
        }
    }

    SiteMap const* map_;
    SiteId me_;
    SiteMap::Site const* site_;
    std::size_t peers_;
    std::vector<Entry> entries_;  // [own bundle][peer]
};

}  // namespace orrery
