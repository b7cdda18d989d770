// SPDX-License-Identifier: Apache-2.0
// The table of collective algorithms, and what all plans share.
#include "workloads/collectives/algorithm.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"
#include "workloads/collectives/algorithm_name.hpp"
#include "workloads/collectives/chunked_plan.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

// A function-local table: it exists before the first registration, whatever the order of static initialisation.
std::map<std::string, CollectiveAlgorithm, std::less<>>& table() {
    static std::map<std::string, CollectiveAlgorithm, std::less<>> algorithms;
    return algorithms;
}

}  // namespace

Time ClosedForm::time(Time latency, Rate port) const {
    Time total;
    for (auto const& term : terms) total += latency * term.latencies + transfer_time(term.bytes, port) * term.transfers;
    return total;
}

std::int64_t ClosedForm::latencies() const {
    std::int64_t count = 0;
    for (auto const& term : terms) count += term.latencies;
    return count;
}

std::uint32_t CollectivePlan::next_step(std::uint32_t, std::uint32_t, std::uint32_t step) const {
    return step;
}

ClosedForm CollectivePlan::pipelined_form(std::uint32_t chunks) const {
    auto form = closed_form();
    if (chunks == 1) return form;
    for (auto& term : form.terms) {
        term.latencies *= chunks;
        term.transfers *= chunks;
    }
    form.holds = ClosedForm::Holds::at_most;
    form.text = fmt::format("c ({}) with S/c for S", form.text);
    return form;
}

CollectiveRegistration::CollectiveRegistration(CollectiveAlgorithm algorithm) {
    auto const name = algorithm.name;
    bool const added = table().emplace(name, std::move(algorithm)).second;
    ORRERY_ENSURE(added, "two collective algorithms register as '{}'", name);
}

std::vector<CollectiveAlgorithm const*> collective_algorithms() {
    std::vector<CollectiveAlgorithm const*> all;
    for (auto const& [name, algorithm] : table()) all.push_back(&algorithm);
    return all;
}

CollectiveAlgorithm const& collective_algorithm(std::string_view name) {
    for (auto const* algorithm : collective_algorithms())
        if (same_algorithm_name(name, algorithm->name)) return *algorithm;
    NearestNames nearest(name);
    for (auto const* algorithm : collective_algorithms()) {
        if (same_algorithm_name(name, algorithm->nccl) || same_algorithm_name(name, algorithm->hccl)) return *algorithm;
        nearest.offer(algorithm->name);
    }
    throw InputError(
        fmt::format("the algorithm is '{}' (no such collective algorithm); did you mean {}?", name, nearest.text()));
}

namespace {

bool carries_out(CollectiveAlgorithm const& algorithm, CollectiveShape const& shape) {
    return std::find(algorithm.ops.begin(), algorithm.ops.end(), shape.op) != algorithm.ops.end() &&
           algorithm.refuses(shape).empty();
}

}  // namespace

std::vector<CollectiveAlgorithm const*> algorithms_for(CollectiveShape const& shape) {
    std::vector<CollectiveAlgorithm const*> able;
    for (auto const* algorithm : collective_algorithms())
        if (carries_out(*algorithm, shape)) able.push_back(algorithm);
    return able;
}

std::unique_ptr<CollectivePlan> plan_collective(std::string_view written, CollectiveShape const& asked) {
    auto const parts = split_algorithm_name(written);
    auto shape = asked;
    if (!parts.levels.empty()) shape.level_algorithms = parts.levels;
    if (parts.chunks > 0) shape.chunks = parts.chunks;
    auto const& algorithm = collective_algorithm(parts.name);
    if (!carries_out(algorithm, shape)) {
        auto const knows_op = std::find(algorithm.ops.begin(), algorithm.ops.end(), shape.op) != algorithm.ops.end();
        std::string able;
        for (auto const* other : algorithms_for(shape)) able += (able.empty() ? "" : ", ") + other->name;
        throw InputError(fmt::format("algorithm {} cannot carry out {} of {} members ({}); these can: {}",
                                     algorithm.name, name_of(shape.op), shape.members,
                                     knows_op ? algorithm.refuses(shape) : "it is made for other operations", able));
    }
    ORRERY_VALIDATE(shape.chunks == 1 || (shape.op != CollectiveOp::all_to_all_v && shape.op != CollectiveOp::barrier),
                    "algorithm {} of {} (no chunks there) leave out the * and what follows it", written,
                    name_of(shape.op));
    if (shape.chunks > 1) return std::make_unique<ChunkedPlan>(algorithm, shape);
    return algorithm.plan(shape);
}

}  // namespace orrery
