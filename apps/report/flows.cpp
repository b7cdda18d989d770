// SPDX-License-Identifier: Apache-2.0
// Flow completion times as a distribution, and slowdown by size of flow.
#include "apps/report/sections.hpp"

namespace orrery::page {
namespace {

// One series of a histogram: its flows and the quantiles that are drawn.
struct SizeClass {
    std::int64_t from = 0, flows = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> values;  // slowdown in millionths, flows

    double quantile(double share) const {
        auto left = static_cast<std::int64_t>(share * static_cast<double>(flows - 1)) + 1;
        for (auto const& [value, count] : values)
            if ((left -= count) <= 0) return static_cast<double>(value) * 1e-6;
        return 0;
    }
};

}  // namespace

Json flows(RunFile const& run) {
    if (!run.has_group("flow_times"))
        return missing(
            "Completion times of single flows are known to the packet model only: run with --set "
            "network.model=packet.");
    auto const times = run.column<std::int64_t>("flow_times", "time");
    auto const counts = run.column<std::int64_t>("flow_times", "flows");
    auto const from = run.column<std::int64_t>("flow_slowdowns", "from");
    auto const slowdown = run.column<std::int64_t>("flow_slowdowns", "slowdown");
    auto const slowed = run.column<std::int64_t>("flow_slowdowns", "flows");
    std::vector<SizeClass> classes;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (classes.empty() || classes.back().from != from[i])
            classes.push_back({.from = from[i], .flows = 0, .values = {}});
        classes.back().flows += slowed[i];
        classes.back().values.emplace_back(slowdown[i], slowed[i]);
    }
    auto sizes = Json::array();
    for (auto const& size : classes)
        sizes.push_back({{"from", size.from},
                         {"flows", size.flows},
                         {"p50", size.quantile(0.5)},
                         {"p95", size.quantile(0.95)},
                         {"p99", size.quantile(0.99)},
                         {"max", size.quantile(1)}});
    return {{"times_ps", times}, {"counts", counts}, {"sizes", sizes}};
}

}  // namespace orrery::page
