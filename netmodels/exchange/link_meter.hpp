// SPDX-License-Identifier: Apache-2.0
// Integrates link loads into time bins, exactly: a bin's bytes plus the carried remainder are the integral of the load.
#pragma once

#include "core/units.hpp"
#include "netmodels/exchange/transfer_engine.hpp"

#include <vector>

namespace orrery {

class LinkMeter final : public LinkTraffic {
  public:
    // Loads are given in units of (1/scale) b/s.
    LinkMeter(std::span<BundleId const> bundles, Time bin_width, std::int64_t scale);

    // `link` (local index) carries `load` from `now` on.
    void change(std::uint32_t link, Time now, std::int64_t load) {
        integrate(link, now);
        load_[link] = load;
    }
    void emit_until(Time now, TimelineSink& sink) override;
    void state(StateStream& stream) { stream(since_, collected_, load_, finished_); }

  private:
    void integrate(std::uint32_t link, Time now);

    std::span<BundleId const> bundles_;
    std::int64_t bin_ps_;
    UInt128 per_byte_;                // load * ps per byte
    std::vector<Time> since_;         // integrated up to here
    std::vector<UInt128> collected_;  // in the bin that contains since_
    std::vector<std::int64_t> load_;
    std::vector<LinkBinRow> finished_;  // of closed bins, not yet emitted
};

}  // namespace orrery
