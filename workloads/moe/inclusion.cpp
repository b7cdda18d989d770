// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/inclusion.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

using Values = std::vector<double>;

// Adds `probability` times the inclusion of each expert when k are drawn from `experts` alone.
void add_inclusion(Values const& weights, std::vector<std::uint32_t> const& experts, std::uint32_t k,
                   double probability, Values& result) {
    double total = 0;
    std::uint32_t positive = 0;
    for (std::uint32_t const expert : experts) {
        total += weights[expert];
        positive += weights[expert] > 0 ? 1 : 0;
    }
    if (positive <= k) {  // all of them, and an even share of the weightless
        double const rest = static_cast<double>(experts.size() - positive);
        for (std::uint32_t const expert : experts)
            result[expert] += probability * (weights[expert] > 0 ? 1 : (k - positive) / rest);
        return;
    }
    // Newton's method from below: the sum is concave in t, so that every step stays below the root.
    double t = k / total;
    for (int step = 0; step < 100; ++step) {
        double sum = 0;
        double slope = 0;
        for (std::uint32_t const expert : experts) {
            double const stays = std::exp(-weights[expert] * t);
            sum += 1 - stays;
            slope += weights[expert] * stays;
        }
        double const change = (k - sum) / slope;
        t += change;
        if (!(change > 1e-9 * t)) break;
    }
    for (std::uint32_t const expert : experts) result[expert] += probability * -std::expm1(-weights[expert] * t);
}

// Scaled to 2^32 for the largest and rounded, so that the last bits of the mathematics library cannot matter.
std::vector<std::uint64_t> to_weights(Values const& values, std::vector<std::uint64_t> const& loads) {
    double const largest = *std::max_element(values.begin(), values.end());
    std::vector<std::uint64_t> weights;
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto const weight = static_cast<std::uint64_t>(std::llround(values[i] / largest * 0x1p32));
        weights.push_back(loads[i] > 0 ? std::max<std::uint64_t>(weight, 1) : 0);
    }
    return weights;
}

}  // namespace

std::vector<double> inclusion(std::vector<double> const& weights, ChoiceShape shape) {
    auto const experts = static_cast<std::uint32_t>(weights.size());
    Values result(experts, 0);
    std::vector<std::uint32_t> members;
    if (!shape.limited()) {
        members.resize(experts);
        std::iota(members.begin(), members.end(), 0U);
        add_inclusion(weights, members, shape.top_k, 1, result);
        return result;
    }
    std::uint32_t const per_group = experts / shape.n_group;
    Values mass(shape.n_group, 0);
    for (std::uint32_t expert = 0; expert < experts; ++expert) mass[expert / per_group] += weights[expert];
    Values const probability = set_probabilities(mass, shape.topk_group);
    for (std::size_t set = 0; set < probability.size(); ++set) {
        if (probability[set] < 1e-9) continue;
        members.clear();
        for (std::uint32_t expert = 0; expert < experts; ++expert)
            if (((set >> (expert / per_group)) & 1U) != 0) members.push_back(expert);
        add_inclusion(weights, members, shape.top_k, probability[set], result);
    }
    return result;
}

std::vector<std::uint64_t> inclusion_loads(std::vector<std::uint64_t> const& weights, ChoiceShape shape) {
    std::vector<std::uint64_t> loads;
    for (double const share : inclusion(Values(weights.begin(), weights.end()), shape))
        loads.push_back(static_cast<std::uint64_t>(std::llround(share * 0x1p20)));
    return loads;
}

std::vector<std::uint64_t> weights_for_loads(std::vector<std::uint64_t> const& loads, ChoiceShape shape) {
    std::uint64_t const total = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
    ORRERY_ENSURE(total > 0, "no expert has load");
    constexpr double most_likely = 1 - 0x1p-10;
    Values wanted;
    Values weights;
    for (std::uint64_t const load : loads) {
        double const share = static_cast<double>(load) / static_cast<double>(total);
        wanted.push_back(std::min(most_likely, shape.top_k * share));
        weights.push_back(-std::log1p(-wanted.back()));  // exact inverse of the formula without groups
    }
    if (shape.limited())
        for (int step = 0; step < 12; ++step) {
            Values const got = inclusion(weights, shape);
            for (std::size_t i = 0; i < weights.size(); ++i)
                if (got[i] > 0) weights[i] *= std::clamp(wanted[i] / got[i], 0.25, 4.0);
        }
    return to_weights(weights, loads);
}

}  // namespace orrery
