// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/bin_rows.hpp"

#include <algorithm>

namespace orrery {

void emit_closed(std::vector<LinkBinRow>& rows, std::uint32_t open, TimelineSink& sink) {
    auto const kept = std::partition(rows.begin(), rows.end(), [open](LinkBinRow const& r) { return r.bin < open; });
    std::sort(rows.begin(), kept, [](LinkBinRow const& a, LinkBinRow const& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.bundle < b.bundle;
    });
    for (auto row = rows.begin(); row != kept;) {
        auto sum = *row;
        for (++row; row != kept && row->bin == sum.bin && row->bundle == sum.bundle; ++row)
            sum.wire_bytes += row->wire_bytes;
        sink.add(sum);
    }
    rows.erase(rows.begin(), kept);
}

}  // namespace orrery
