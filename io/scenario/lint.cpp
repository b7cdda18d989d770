// SPDX-License-Identifier: Apache-2.0
// Cross-field rules: one function each, listed in lint().
#include "io/scenario/lint.hpp"

#include "io/scenario/condition.hpp"
#include "io/scenario/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace orrery::loader {

namespace {

bool usable(Draft const& draft, std::initializer_list<char const*> paths) {
    return std::none_of(paths.begin(), paths.end(), [&](char const* path) { return draft.failed.contains(path); });
}

// Where the user can change it: the first of the paths that is written somewhere, else the file.
Place place_of(Draft const& draft, std::initializer_list<char const*> paths) {
    for (char const* path : paths)
        if (auto const found = draft.origin.find(path); found != draft.origin.end()) return found->second;
    return {draft.file, {}};
}

void hosts_per_leaf(Draft& draft) {
    if (draft.scenario.fabric().kind() != "leaf_spine") return;
    if (!usable(draft, {"fabric.leaf_spine.hosts", "fabric.leaf_spine.hosts_per_leaf"})) return;
    auto const& spec = draft.scenario.fabric().leaf_spine();
    if (spec.hosts() % spec.hosts_per_leaf() == 0) return;
    draft.problems.add(
        place_of(draft, {"fabric.leaf_spine.hosts_per_leaf", "fabric.leaf_spine.hosts"}),
        fmt::format("fabric.leaf_spine.hosts_per_leaf = {} (does not divide fabric.leaf_spine.hosts = {}) "
                    "nearest that do: {}",
                    spec.hosts_per_leaf(), spec.hosts(), nearest_divisors(spec.hosts(), spec.hosts_per_leaf(), 4096)));
}

void microbatches(Draft& draft) {
    if (!usable(draft, {"workload.microbatches", "workload.batch_per_rank", "workload.context", "workload.phase",
                        "workload.tokens_per_sequence"}))
        return;
    auto const& w = draft.scenario.workload();
    std::uint64_t const per_sequence = w.phase() == "prefill" ? w.context() : w.tokens_per_sequence();
    std::uint64_t const tokens = w.batch_per_rank() * per_sequence;
    if (w.microbatches() == 0 || tokens % w.microbatches() == 0) return;
    draft.problems.add(
        place_of(draft, {"workload.microbatches", "workload.batch_per_rank", "workload.tokens_per_sequence"}),
        fmt::format("workload.microbatches = {} (does not divide the {} tokens of a rank: {} sequences of {}) "
                    "nearest that do: {}",
                    w.microbatches(), tokens, w.batch_per_rank(), per_sequence,
                    nearest_divisors(tokens, w.microbatches(), 8)));
}

void flow_error(Draft& draft) {
    std::string const path = "network.flow.error";
    std::string const& error = draft.scenario.network().flow().error();
    if (draft.failed.contains(path) || error.empty() || error == "exact" || error == "auto") return;
    Place const place = place_of(draft, {"network.flow.error"});
    auto const fraction = quantity::parse_real(quantity::Dimension::fraction, error, "1%");
    if (!fraction) {
        bool const number = error.find_first_of("0123456789") == 0;
        draft.problems.refuse(
            place, path, error,
            number ? fraction.refusal : quantity::Refusal{"must be exact, auto or a fraction", "write auto or 1%"});
    } else if (*fraction.value < 0.0001 || *fraction.value > 0.2) {
        draft.problems.refuse(place, path, error, {"must be from 0.01% to 20%", "write 1%, auto or exact"});
    }
}

// A degradation on a timetable: its end after its beginning, and only what a network model can change in time.
void timetable(Draft& draft) {
    auto const& degrade = draft.scenario.fabric().degrade();
    for (int i = 0; i < degrade.size(); ++i) {
        auto const& d = degrade[i];
        if (d.from() == 0 && d.until() == 0) continue;
        auto const path = fmt::format("fabric.degrade[{}]", i);
        auto const show = [](std::int64_t ps) { return quantity::print(quantity::Dimension::time, ps); };
        if (d.until() > 0 && d.until() <= d.from())
            draft.problems.add(place_of(draft, {(path + ".until").c_str()}),
                               fmt::format("{}.until = {} (not after from = {}) write a later time, or leave it out",
                                           path, show(d.until()), show(d.from())));
        if (d.extra_latency() != 0)
            draft.problems.add(place_of(draft, {(path + ".extra_latency").c_str()}),
                               fmt::format("{}.extra_latency = {} (latencies do not change in time) use rate_factor or "
                                           "down, or leave out from and until",
                                           path, show(d.extra_latency())));
        if (draft.scenario.network().model() == "analytic")
            draft.problems.add(
                place_of(draft, {(path + ".from").c_str(), (path + ".until").c_str()}),
                fmt::format("{}.{} = {} (the {} model has no links that change in time) use "
                            "network.model=flow or packet",
                            path, d.from() > 0 ? "from" : "until", show(d.from() > 0 ? d.from() : d.until()),
                            draft.scenario.network().model()));
    }
}

}  // namespace

void lint(Draft& draft) {
    timetable(draft);
    hosts_per_leaf(draft);
    microbatches(draft);
    flow_error(draft);
}

std::vector<std::string> find_cancelled(Draft const& draft) {
    std::vector<std::string> cancelled;
    auto const& degrade = draft.scenario.fabric().degrade();
    for (int i = 0; i < degrade.size(); ++i) {
        auto const& d = degrade[i];
        std::string const path = fmt::format("fabric.degrade[{}]", i);
        if (d.down()) {
            if (draft.origin.contains(path + ".rate_factor"))
                cancelled.push_back(
                    fmt::format("{0}.rate_factor = {1} has no effect ({0}.down is true)", path, d.rate_factor()));
            if (draft.origin.contains(path + ".extra_latency"))
                cancelled.push_back(fmt::format("{0}.extra_latency = {1} has no effect ({0}.down is true)", path,
                                                quantity::print(quantity::Dimension::time, d.extra_latency())));
        } else if (d.rate_factor() == 1.0 && d.extra_latency() == 0) {
            cancelled.push_back(fmt::format("{}.links = {} has no effect (nothing is changed)", path, d.links()));
        }
    }
    return cancelled;
}

std::string nearest_divisors(std::uint64_t n, std::uint64_t d, std::uint64_t most) {
    std::uint64_t below = 0, above = 0;
    auto const consider = [&](std::uint64_t divisor) {
        if (divisor < d) below = std::max(below, divisor);
        if (divisor > d && divisor <= most && (above == 0 || divisor < above)) above = divisor;
    };
    for (std::uint64_t i = 1; i <= n / i; ++i) {
        if (n % i != 0) continue;
        consider(i);
        consider(n / i);
    }
    if (below == 0) return fmt::format("{}", above);
    return above == 0 ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

}  // namespace orrery::loader
