// SPDX-License-Identifier: Apache-2.0
// The table of collective algorithms, and what all plans share.
#include "workloads/collectives/algorithm.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace orrery {
namespace {

// A function-local table: it exists before the first registration, whatever the order of static initialisation.
std::map<std::string, CollectiveAlgorithm, std::less<>>& table() {
    static std::map<std::string, CollectiveAlgorithm, std::less<>> algorithms;
    return algorithms;
}

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        auto const plain = [](int c) { return c == '_' || c == ' ' ? '-' : std::tolower(c); };
        return plain(x) == plain(y);
    });
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
        if (same_name(name, algorithm->name)) return *algorithm;
    NearestNames nearest(name);
    for (auto const* algorithm : collective_algorithms()) {
        if (same_name(name, algorithm->nccl) || same_name(name, algorithm->hccl)) return *algorithm;
        nearest.offer(algorithm->name);
    }
    throw InputError(
        fmt::format("the algorithm is '{}' (no such collective algorithm); did you mean {}?", name, nearest.text()));
}

std::unique_ptr<CollectivePlan> plan_collective(std::string_view name, CollectiveShape const& shape) {
    auto const& algorithm = collective_algorithm(name);
    auto const carries_out = [&](CollectiveAlgorithm const& candidate) {
        return std::find(candidate.ops.begin(), candidate.ops.end(), shape.op) != candidate.ops.end() &&
               candidate.refuses(shape).empty();
    };
    if (!carries_out(algorithm)) {
        auto const knows_op = std::find(algorithm.ops.begin(), algorithm.ops.end(), shape.op) != algorithm.ops.end();
        std::string able;
        for (auto const* other : collective_algorithms())
            if (carries_out(*other)) able += (able.empty() ? "" : ", ") + other->name;
        throw InputError(fmt::format("algorithm {} cannot carry out {} of {} members ({}); these can: {}",
                                     algorithm.name, name_of(shape.op), shape.members,
                                     knows_op ? algorithm.refuses(shape) : "it is made for other operations", able));
    }
    return algorithm.plan(shape);
}

}  // namespace orrery
