// SPDX-License-Identifier: Apache-2.0
// Links over time: the hottest of every class, each bin in thousandths of the capacity.
#include "apps/report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery::page {
namespace {

constexpr std::uint32_t most_columns = 400;
constexpr std::size_t hottest_overall = 48, hottest_of_class = 16;

// The hottest of all, then of each class.
std::vector<std::uint32_t> chosen_rows(LinkColumns const& links, LinkPeaks const& peaks) {
    auto const hottest = peaks.hottest(links);
    std::map<std::string, std::size_t> of_class;
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < hottest.size(); ++i)
        if (auto& taken = of_class[links.link_class[hottest[i]]]; i < hottest_overall || taken < hottest_of_class) {
            ++taken;
            rows.push_back(hottest[i]);
        }
    return rows;
}

}  // namespace

Json link_heat(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks) {
    if (peaks.bins == 0) return missing("No link carried anything that was recorded over time.");
    auto const rows = chosen_rows(links, peaks);
    auto const together = (peaks.bins + most_columns - 1) / most_columns;
    auto const columns = (peaks.bins + together - 1) / together;
    std::map<std::uint32_t, std::size_t> place;  // by row of links
    for (auto const row : rows) place.emplace(row, place.size());
    std::vector<std::vector<std::int64_t>> bytes(rows.size(), std::vector<std::int64_t>(columns));
    run.each_row(TableId::link_bins, [&](RowBlock const& block, std::size_t at) {
        auto const found = place.find(links.row_of.at(block.at<std::uint32_t>(0, at)));
        if (found != place.end())
            bytes[found->second][block.at<std::uint32_t>(1, at) / together] += block.at<std::int64_t>(2, at);
    });
    auto const width = peaks.bin * together;
    auto lines = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const row = rows[i];
        auto cells = Json::array();
        for (auto const sent : bytes[i])
            cells.push_back(std::lround(1000 * share_of_capacity(sent, links.capacity_bps[row], width)));
        lines.push_back({{"name", links.name[row]},
                         {"class", links.link_class[row]},
                         {"domain", links.domain[row]},
                         {"mean", links.utilisation[row]},
                         {"peak", peaks.share[row]},
                         {"bytes", links.wire_bytes[row]},
                         {"cells", cells}});
    }
    return {{"bin_ps", width.ps()},
            {"columns", columns},
            {"recorded_bin_ps", peaks.bin.ps()},
            {"with_traffic", peaks.hottest(links).size()},
            {"rows", lines}};
}

}  // namespace orrery::page
