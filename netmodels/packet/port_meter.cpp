// SPDX-License-Identifier: Apache-2.0
// Turning a port's bin and emitting what is complete.
#include "netmodels/packet/port_meter.hpp"

#include "netmodels/exchange/bin_rows.hpp"

namespace orrery {

void PortMeter::put(OpenBin& bin, std::uint32_t bundle) {
    rows_.push_back({bundles_[bundle].value(), static_cast<std::uint32_t>(bin.end / width_ - 1), bin.bytes});
    bin.bytes = 0;
}

void PortMeter::turn(OpenBin& bin, std::uint32_t bundle, std::int64_t start) {
    if (bin.bytes > 0) put(bin, bundle);
    bin.end = (start / width_ + 1) * width_;
}

void PortMeter::emit_until(Time now, TimelineSink& sink) {
    if (flush_) flush_(now);
    emit_closed(rows_, static_cast<std::uint32_t>(now.ps() / width_), sink);
}

}  // namespace orrery
