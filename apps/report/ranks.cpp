// SPDX-License-Identifier: Apache-2.0
// Where every rank's time went, and the operations of the ranks that a reader wants to see.
#include "apps/report/sections.hpp"

#include <algorithm>
#include <map>

namespace orrery::page {
namespace {

constexpr std::size_t most_bars = 160, most_lines = 16, most_operations = 16'000;

struct RankTime {
    std::int64_t operations = 0, end = 0, compute = 0, transfer = 0, wait = 0;
};

std::map<std::uint32_t, RankTime> times_of(RunFile const& run, std::vector<bool> const& communicates) {
    std::map<std::uint32_t, RankTime> ranks;
    run.each_row(TableId::operations, [&](RowBlock const& block, std::size_t row) {
        auto& rank = ranks[block.at<std::uint32_t>(4, row)];
        auto const start = block.at<std::int64_t>(0, row), end = block.at<std::int64_t>(1, row);
        ++rank.operations;
        rank.end = std::max(rank.end, end);
        if (!communicates[block.at<std::uint8_t>(7, row)]) {
            rank.compute += end - start;
            return;
        }
        auto const exposed = block.at<std::int64_t>(3, row), wait = std::min(exposed, block.at<std::int64_t>(2, row));
        rank.wait += wait;
        rank.transfer += exposed - wait;
    });
    return ranks;
}

// Ranks with something to show, each with what it is; then some at even distances.
std::vector<std::pair<std::uint32_t, std::string>> chosen(std::map<std::uint32_t, RankTime> const& ranks) {
    std::vector<std::pair<std::uint32_t, std::string>> result;
    auto const take = [&](std::uint32_t rank, std::string const& why) {
        if (result.size() < most_lines && std::ranges::none_of(result, [&](auto const& r) { return r.first == rank; }))
            result.emplace_back(rank, why);
    };
    auto const most = [&](std::int64_t RankTime::* what) {
        return std::ranges::max_element(ranks, {}, [&](auto const& entry) { return entry.second.*what; })->first;
    };
    take(most(&RankTime::end), "last to end");
    take(most(&RankTime::compute), "computes most");
    take(most(&RankTime::wait), "waits most");
    take(most(&RankTime::transfer), "transfers most");
    take(std::ranges::min_element(ranks, {}, [](auto const& entry) { return entry.second.end; })->first,
         "first to end");
    std::vector<std::uint32_t> all;
    for (auto const& [rank, time] : ranks) all.push_back(rank);
    auto const step = std::max<std::size_t>(1, all.size() / most_lines);
    for (std::size_t i = 0; i < all.size(); i += step) take(all[i], "");
    return result;
}

Json bars(std::map<std::uint32_t, RankTime> const& ranks) {
    auto const together = (ranks.size() + most_bars - 1) / most_bars;
    auto rows = Json::array();
    std::vector<std::pair<std::uint32_t, RankTime>> const all(ranks.begin(), ranks.end());
    for (std::size_t first = 0; first < all.size(); first += together) {
        auto const count = std::min(together, all.size() - first);
        RankTime sum;
        std::int64_t latest = 0;
        for (std::size_t i = first; i < first + count; ++i) {
            auto const& rank = all[i].second;
            sum.compute += rank.compute;
            sum.transfer += rank.transfer;
            sum.wait += rank.wait;
            latest = std::max(latest, rank.end);
        }
        auto const n = static_cast<std::int64_t>(count);
        rows.push_back(
            {all[first].first, all[first + count - 1].first, sum.compute / n, sum.transfer / n, sum.wait / n, latest});
    }
    return rows;
}

}  // namespace

Json ranks(RunFile const& run) {
    if (run.rows(TableId::operations) == 0)
        return missing("Operations were not recorded: output.detail is " + run.detail() +
                       "; layers or full record them.");
    auto const communicates = run.communicating_kinds();
    auto const times = times_of(run, communicates);
    auto const shown = chosen(times);
    auto const per_rank = static_cast<std::int64_t>(most_operations / shown.size());
    std::map<std::uint32_t, std::size_t> line_of;
    for (auto const& [rank, why] : shown) line_of.emplace(rank, line_of.size());
    std::vector<std::int64_t> taken(shown.size());
    auto operations = Json::array();
    run.each_row(TableId::operations, [&](RowBlock const& block, std::size_t row) {
        auto const found = line_of.find(block.at<std::uint32_t>(4, row));
        if (found == line_of.end() || taken[found->second]++ >= per_rank) return;
        auto const start = block.at<std::int64_t>(0, row);
        operations.push_back({found->second, block.at<std::uint8_t>(7, row), start,
                              block.at<std::int64_t>(1, row) - start, block.at<std::int64_t>(2, row),
                              block.at<std::int64_t>(3, row), block.at<std::uint16_t>(6, row),
                              block.at<std::uint8_t>(8, row)});
    });
    auto lines = Json::array();
    for (auto const& [rank, why] : shown)
        lines.push_back({{"rank", rank},
                         {"why", why},
                         {"where", run.fabric().rank_name(RankId{rank})},
                         {"operations", times.at(rank).operations}});
    return {{"kinds", run.kinds()},     {"communicates", communicates}, {"bars", bars(times)},  {"lines", lines},
            {"operations", operations}, {"per_line", per_rank},         {"ranks", times.size()}};
}

}  // namespace orrery::page
