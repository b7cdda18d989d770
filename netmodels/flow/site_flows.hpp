// SPDX-License-Identifier: Apache-2.0
// The transfers that one site serves: its own bundles shared max-min fairly, those of other sites by what they told.
#pragma once

#include "netmodels/exchange/link_meter.hpp"
#include "netmodels/exchange/site_map.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// A transfer crosses its real bundles here and, for each bundle that another site owns, a *far link*: at the level that
// its owner told, or until then with all of its capacity for the transfers of this site. Shares change at every start,
// finish and notice, or at multiples of an epoch; with one, finishes are looked at then too, each with its own time.
class SiteFlows final : public LinkTraffic, private MaxMinKernel::LoadObserver {
  public:
    SiteFlows(Fabric const& fabric, SiteMap const& map, SiteId site, Time epoch, Time bin_width);

    // A sender's loop, shared by its transfers: of a rank here, or of one elsewhere, whose level is told.
    std::uint32_t open_loop(Rate rate) { return kernel_.open_link(rate); }
    std::uint32_t open_far_loop(std::int64_t level);
    void impose_loop(std::uint32_t loop, std::int64_t level) { kernel_.impose_level(loop, level); }
    void close_loop(std::uint32_t loop) { kernel_.close_link(loop); }

    void start(Route const& way, std::uint32_t loop, std::uint32_t weight, std::int64_t wire_bytes,
               std::uint64_t cookie);
    // Call for every completion, after advance(): far links without transfers forget what they were told.
    void leave(Route const& way);
    // The owner of a bundle tells its level. True when it concerns a transfer and is news.
    bool hear(SiteId owner, std::uint32_t index, std::int64_t level);

    // The next instant, not before `now`, at which advance() or settle() has something to do; infinity when idle.
    Time next(Time now) const;
    // Appends what was done at or before `now`, in order (when, cookie).
    void advance(Time now, std::vector<TransferDone>& done);
    // Shares anew what started, finished or was told, if it is time to. True when shares changed.
    bool settle(Time now);
    void emit_until(Time now, TimelineSink& sink) override;
    std::vector<std::uint64_t> starved() const { return kernel_.starved(); }
    void state(StateStream& stream) { stream(kernel_, meter_, far_); }

    // Of an own bundle, by its index at this site.
    std::int64_t level(std::uint32_t index) const { return kernel_.level(index + 1); }
    std::int64_t loop_level(std::uint32_t loop) const { return kernel_.level(loop); }

  private:
    struct FarLink {
        std::uint32_t link = 0;
        std::uint32_t flows = 0;
        std::int64_t told = MaxMinKernel::unbounded;  // unbounded: it does not fill, or nothing was told
    };

    void load_changes(std::uint32_t link, Time now, std::int64_t load) override;
    FarLink& far(BundleId bundle);
    void tell(FarLink& link, BundleId bundle, std::int64_t level);
    Time on_grid(Time when) const;

    Fabric const* fabric_;
    SiteMap const* map_;
    SiteId me_;
    SiteMap::Site const* site_;
    MaxMinKernel kernel_;
    LinkMeter meter_;
    std::vector<std::vector<FarLink>> far_;  // by peer, then index at the owner
    Time epoch_;
    std::vector<MaxMinKernel::Completion> completions_;
};

}  // namespace orrery
