// SPDX-License-Identifier: Apache-2.0
#include "apps/report/ideal_step.hpp"

#include "apps/report/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

char const* name_of(StepParts::Sort sort) {
    static constexpr char const* names[] = {"compute", "transfer", "wait", "idle"};
    return names[static_cast<std::size_t>(sort)];
}

StepParts step_parts(Json const& operations, std::int64_t ranks, double step_s, bool micro_batches) {
    using Sort = StepParts::Sort;
    StepParts result;
    double compute = 0, bounds = 0, all = 0;
    auto const add = [&](std::string const& name, double seconds, Sort sort, Json const& operation) {
        if (seconds <= 0) return;
        all += seconds;
        result.parts.push_back({name, seconds, sort, operation.value("bound_by", std::string{}),
                                operation.value("bound_link", std::string{})});
    };
    bool beside = micro_batches;
    for (auto const& operation : operations) {
        auto const name = operation.at("name").get<std::string>();
        auto const per_rank =
            operation.at("count").get<double>() / static_cast<double>(std::max<std::int64_t>(1, ranks));
        auto const total = operation.at("mean_s").get<double>() * per_rank;
        // Only what moves data has a bound of its own; the price of a computation is its bound.
        if (computes(name)) {
            compute += total;
            beside = beside || name == "shared_expert";
            add(name, total, Sort::compute, operation);
            continue;
        }
        bounds += operation.at("bound_s").get<double>() * per_rank;
        auto const exposed = total * operation.at("exposed_share").get<double>();
        auto const waiting = std::min(exposed, operation.at("wait_mean_s").get<double>() * per_rank);
        add(name, exposed - waiting, Sort::transfer, operation);
        add("waiting in " + name, waiting, Sort::wait, operation);
    }
    std::ranges::stable_sort(result.parts, [](auto const& a, auto const& b) { return a.seconds > b.seconds; });
    if (step_s - all > 1e-12 * step_s) result.parts.push_back({"idle", step_s - all, Sort::idle, {}, {}});
    result.ideal_s = beside ? std::max(compute, bounds) : compute + bounds;
    result.ideal_how = beside ? "the longer of the mean rank's computation and its exchanges at their bound"
                              : "the mean rank's computation and every exchange at its bound, one after the other";
    return result;
}

StepParts step_parts(RunFile const& run) {
    return step_parts(run.details().at("operations"), run.details().at("ranks").get<std::int64_t>(),
                      run.step().seconds(), run.scenario().workload().microbatches() > 1);
}

}  // namespace orrery
