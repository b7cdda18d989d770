// SPDX-License-Identifier: Apache-2.0
#include "apps/report/link_peaks.hpp"

#include <algorithm>
#include <tuple>

namespace orrery {

LinkPeaks::LinkPeaks(RunFile const& run, LinkColumns const& links)
    : bin(Time::from_ps(run.integer("manifest", "link_bin_ps"))), share(links.size()), when(links.size()) {
    run.each_row(TableId::link_bins, [&](RowBlock const& block, std::size_t at) {
        auto const row = links.row_of.at(block.at<std::uint32_t>(0, at));
        auto const number = block.at<std::uint32_t>(1, at);
        bins = std::max(bins, number + 1);
        auto const used = share_of_capacity(block.at<std::int64_t>(2, at), links.capacity_bps[row], bin);
        if (used > share[row]) {
            share[row] = used;
            when[row] = number;
        }
    });
}

std::vector<std::uint32_t> LinkPeaks::hottest(LinkColumns const& links) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < links.size(); ++row)
        if (links.wire_bytes[row] > 0) rows.push_back(row);
    auto const step = [&](std::uint32_t row) { return static_cast<int>(std::min(share[row], 0.95) * 20); };
    std::ranges::sort(rows, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(step(b), links.utilisation[b], a) < std::tuple(step(a), links.utilisation[a], b);
    });
    return rows;
}

}  // namespace orrery
