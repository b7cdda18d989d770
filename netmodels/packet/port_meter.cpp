// SPDX-License-Identifier: Apache-2.0
// Turning a port's bin and emitting what is complete.
#include "netmodels/packet/port_meter.hpp"

#include <algorithm>

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
    auto const last = static_cast<std::uint32_t>(now.ps() / width_);
    auto const open = std::partition(rows_.begin(), rows_.end(), [last](LinkBinRow const& r) { return r.bin < last; });
    std::sort(rows_.begin(), open, [](LinkBinRow const& a, LinkBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.bundle < b.bundle;
    });
    for (auto row = rows_.begin(); row != open;) {
        auto sum = *row;
        for (++row; row != open && row->bin == sum.bin && row->bundle == sum.bundle; ++row)
            sum.wire_bytes += row->wire_bytes;
        sink.add(sum);
    }
    rows_.erase(rows_.begin(), open);
}

}  // namespace orrery
