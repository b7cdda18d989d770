// SPDX-License-Identifier: Apache-2.0
#include "apps/study/study_summary.hpp"

#include <algorithm>

namespace orrery {
namespace {

using Results = std::vector<std::optional<MemberResult>>;

// The smallest value that at least `percent` of all do not exceed.
template <class T>
T const& nearest_rank(std::vector<T> const& sorted, std::size_t percent) {
    auto const rank = (sorted.size() * percent + 99) / 100;
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// The same seed and variants, with the first of the failures: the last axis.
std::uint64_t without_failure(StudyPlan const& plan, std::uint64_t member) {
    auto const cell = plan.cell_of(member);
    auto const healthy = cell - cell % plan.axes.back().variants.size();
    return healthy * plan.seeds + member % plan.seeds;
}

std::optional<std::int64_t> affected(StudyPlan const& plan, Results const& results, MemberResult const& result) {
    if (!plan.has_failures) return std::nullopt;
    auto const& healthy = results[without_failure(plan, result.member)];
    if (!healthy || healthy->failed() || healthy->rank_ends_ps.size() != result.rank_ends_ps.size())
        return std::nullopt;
    std::int64_t later = 0;
    for (std::size_t r = 0; r < result.rank_ends_ps.size(); ++r)
        if (result.rank_ends_ps[r] > healthy->rank_ends_ps[r]) ++later;
    return later;
}

StudyCell::Figures figures_of(StudyPlan const& plan, Results const& results, std::vector<MemberResult const*> members) {
    std::ranges::stable_sort(members, [](auto const* a, auto const* b) { return a->step_ps < b->step_ps; });
    auto const& median = *nearest_rank(members, 50);
    auto const* worst = *std::ranges::find(members, members.back()->step_ps, &MemberResult::step_ps);
    StudyCell::Figures f;
    f.p5_ps = nearest_rank(members, 5)->step_ps;
    f.p50_ps = median.step_ps;
    f.p95_ps = nearest_rank(members, 95)->step_ps;
    f.worst = worst->member;
    f.worst_digest = worst->digest;
    if (median.step_ps > 0) {
        f.of_bound = static_cast<double>(median.ideal_ps) / static_cast<double>(median.step_ps);
        f.goodput_bytes_per_s =
            static_cast<double>(median.delivered_bytes) / (static_cast<double>(median.step_ps) * 1e-12);
    }
    f.hottest_class = median.hot_class;
    f.hottest_link = median.hot_link;
    f.hottest_use = median.hot_use;
    f.affected_ranks = affected(plan, results, median);
    std::map<std::string, std::int64_t> used;
    for (auto const* member : members)
        for (auto const& [link_class, count] : member->used) used[link_class] += count;
    for (auto const& [link_class, count] : used)
        f.mean_links_used.emplace_back(link_class, static_cast<double>(count) / static_cast<double>(members.size()));
    if (auto const& prices = plan.prices)
        f.cost = prices->rank * static_cast<double>(median.ranks) +
                 prices->switch_chip * static_cast<double>(median.switches) +
                 prices->link * static_cast<double>(median.links);
    return f;
}

}  // namespace

StudySummary summarise(StudyPlan const& plan, Results const& results) {
    StudySummary summary;
    for (std::uint64_t c = 0; c < plan.cells(); ++c) {
        StudyCell cell{.variants = plan.variants_of(c), .members = plan.seeds};
        std::vector<MemberResult const*> good;
        for (std::uint64_t s = 0; s < plan.seeds; ++s) {
            auto const& result = results[c * plan.seeds + s];
            if (!result) {
                ++cell.missing;
            } else if (result->failed()) {
                if (cell.failed++ == 0) cell.first_error = result->error;
            } else {
                good.push_back(&*result);
            }
        }
        if (cell.failed == 0 && cell.missing == 0) cell.figures = figures_of(plan, results, std::move(good));
        summary.failed += cell.failed;
        summary.missing += cell.missing;
        summary.cells.push_back(std::move(cell));
    }
    return summary;
}

}  // namespace orrery
