// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/link_meter.hpp"

#include "netmodels/exchange/bin_rows.hpp"

#include <algorithm>

namespace orrery {

LinkMeter::LinkMeter(std::span<BundleId const> bundles, Time bin_width, std::int64_t scale)
    : bundles_(bundles),
      bin_ps_(bin_width.ps()),
      per_byte_(static_cast<UInt128>(scale) * 8'000'000'000'000U),
      since_(bundles.size()),
      collected_(bundles.size(), 0),
      load_(bundles.size(), 0) {
    ORRERY_ENSURE(bin_ps_ > 0, "bin width of {} ps", bin_ps_);
}

void LinkMeter::integrate(std::uint32_t link, Time now) {
    auto const load = load_[link];
    auto at = since_[link].ps();
    while (at < now.ps()) {
        auto const bin = at / bin_ps_;
        auto const end = std::min(now.ps(), (bin + 1) * bin_ps_);
        collected_[link] += static_cast<UInt128>(load) * static_cast<std::uint64_t>(end - at);
        at = end;
        if (at < (bin + 1) * bin_ps_) break;
        // The bin is closed: whole bytes belong to it, the rest of a byte to the next one.
        auto const bytes = collected_[link] / per_byte_;
        collected_[link] -= bytes * per_byte_;
        if (bytes > 0)
            finished_.push_back(
                {bundles_[link].value(), static_cast<std::uint32_t>(bin), static_cast<std::int64_t>(bytes)});
        if (load == 0) at = now.ps();  // nothing more to integrate
    }
    since_[link] = now;
}

void LinkMeter::emit_until(Time now, TimelineSink& sink) {
    auto const whole = Time::from_ps(now.ps() / bin_ps_ * bin_ps_);
    for (std::uint32_t link = 0; link < load_.size(); ++link)
        if (since_[link] < whole) integrate(link, whole);
    emit_closed(finished_, static_cast<std::uint32_t>(whole.ps() / bin_ps_), sink);
}

}  // namespace orrery
