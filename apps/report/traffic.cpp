// SPDX-License-Identifier: Apache-2.0
// Rank to rank: payload, blocks of consecutive ranks taken together.
#include "apps/report/sections.hpp"

#include <algorithm>
#include <limits>

namespace orrery::page {
namespace {

constexpr std::uint32_t most_blocks = 128;

}  // namespace

Json traffic(RunFile const& run) {
    if (run.rows(TableId::pairs) == 0)
        return missing(run.detail() == "full"
                           ? "No rank sent anything to another one."
                           : "Pairs of ranks were not recorded: output.detail is " + run.detail() + ", not full.");
    std::uint32_t first = std::numeric_limits<std::uint32_t>::max(), last = 0;
    run.each_row(TableId::pairs, [&](RowBlock const& block, std::size_t row) {
        for (auto const column : {0, 1}) {
            auto const rank = block.at<std::uint32_t>(column, row);
            first = std::min(first, rank);
            last = std::max(last, rank);
        }
    });
    auto const ranks = last - first + 1;
    auto const per_block = (ranks + most_blocks - 1) / most_blocks;
    auto const blocks = (ranks + per_block - 1) / per_block;
    // Every column of bytes that pairs have, whatever a workload calls them.
    auto const columns = timeline_table(TableId::pairs).columns.subspan(2);
    std::vector<std::vector<std::int64_t>> sent(columns.size(),
                                                std::vector<std::int64_t>(std::size_t{blocks} * blocks));
    run.each_row(TableId::pairs, [&](RowBlock const& block, std::size_t row) {
        auto const source = (block.at<std::uint32_t>(0, row) - first) / per_block;
        auto const target = (block.at<std::uint32_t>(1, row) - first) / per_block;
        for (std::size_t c = 0; c < columns.size(); ++c)
            sent[c][std::size_t{source} * blocks + target] += block.at<std::int64_t>(c + 2, row);
    });
    auto names = Json::array(), matrices = Json::array();
    for (std::size_t c = 0; c < columns.size(); ++c) {
        std::string name = columns[c].name;
        names.push_back(name.substr(0, name.rfind("_bytes")));
        matrices.push_back(sent[c]);
    }
    return {{"first_rank", first}, {"ranks", ranks}, {"per_block", per_block},
            {"blocks", blocks},    {"names", names}, {"bytes", matrices}};
}

}  // namespace orrery::page
