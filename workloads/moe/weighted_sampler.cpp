// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/weighted_sampler.hpp"

#include "core/check.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

constexpr int most_rejections = 3;  // per draw
constexpr std::size_t most_chosen = 64;

bool contains(std::span<std::uint16_t const> list, std::uint16_t value) {
    for (std::uint16_t const entry : list)
        if (entry == value) return true;
    return false;
}

std::uint64_t below_u64(RandomSequence& random, std::uint64_t bound) {
    std::uint64_t const high = random.next_u32();
    std::uint64_t const value = (high << 32) | random.next_u32();
    return static_cast<std::uint64_t>((static_cast<UInt128>(value) * bound) >> 64);
}

std::uint32_t groups_in(std::size_t set) {
    return static_cast<std::uint32_t>(std::popcount(set));
}

}  // namespace

std::vector<double> set_probabilities(std::vector<double> const& group_mass, std::uint32_t topk_group) {
    std::size_t const groups = group_mass.size();
    std::vector<double> probability(std::size_t{1} << groups, 0);
    probability[0] = 1;
    for (std::size_t set = 0; set < probability.size(); ++set) {
        if (probability[set] <= 0 || groups_in(set) >= topk_group) continue;
        double left = 0;
        for (std::size_t group = 0; group < groups; ++group)
            if (((set >> group) & 1U) == 0) left += group_mass[group];
        auto const others = static_cast<double>(groups - groups_in(set));
        for (std::size_t group = 0; group < groups; ++group)
            if (((set >> group) & 1U) == 0)
                probability[set | (std::size_t{1} << group)] +=
                    probability[set] * (left > 0 ? group_mass[group] / left : 1 / others);
    }
    for (std::size_t set = 0; set < probability.size(); ++set)
        if (groups_in(set) != topk_group) probability[set] = 0;
    return probability;
}

WeightedSampler::WeightedSampler(std::vector<std::uint64_t> weights, ChoiceShape shape) : weights_(std::move(weights)) {
    auto const experts = static_cast<std::uint32_t>(weights_.size());
    ORRERY_ENSURE(shape.top_k >= 1 && shape.top_k <= most_chosen && shape.top_k <= experts, "top-{} of {} experts",
                  shape.top_k, experts);
    for (std::uint64_t const weight : weights_)
        ORRERY_ENSURE(weight <= largest_weight, "weight {} is too large", weight);
    if (!shape.limited()) {
        std::vector<std::uint16_t> all(experts);
        std::iota(all.begin(), all.end(), std::uint16_t{0});
        pools_.push_back(make_pool(std::move(all)));
        return;
    }
    ORRERY_ENSURE(shape.n_group <= most_limited_groups && experts % shape.n_group == 0 && shape.topk_group >= 1,
                  "{} of {} groups of {} experts", shape.topk_group, shape.n_group, experts);
    std::uint32_t const per_group = experts / shape.n_group;
    std::vector<double> mass(shape.n_group, 0);
    for (std::uint32_t expert = 0; expert < experts; ++expert)
        mass[expert / per_group] += static_cast<double>(weights_[expert]);
    auto const probability = set_probabilities(mass, shape.topk_group);
    std::vector<std::uint64_t> pool_weight;
    for (std::size_t set = 0; set < probability.size(); ++set) {
        auto const weight = static_cast<std::uint64_t>(std::llround(probability[set] * 0x1p40));
        if (weight == 0) continue;
        std::vector<std::uint16_t> members;
        for (std::uint32_t expert = 0; expert < experts; ++expert)
            if (((set >> (expert / per_group)) & 1U) != 0) members.push_back(static_cast<std::uint16_t>(expert));
        pools_.push_back(make_pool(std::move(members)));
        pool_weight.push_back(weight);
    }
    pool_alias_ = AliasTable(pool_weight);
}

WeightedSampler::Pool WeightedSampler::make_pool(std::vector<std::uint16_t> experts) const {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> first = {0};
    for (std::uint16_t const expert : experts) {
        weights.push_back(weights_[expert]);
        first.push_back(first.back() + weights_[expert]);
    }
    return {std::move(experts), std::move(first), AliasTable(weights)};
}

// The taken places are gaps on the line of all weights: a random point among what is left is shifted past the gaps
// before it, then looked up.
std::uint16_t WeightedSampler::search(Pool const& pool, RandomSequence& random, std::span<std::uint16_t const> taken) {
    std::array<std::uint16_t, most_chosen> sorted;
    std::copy(taken.begin(), taken.end(), sorted.begin());
    auto const gaps = std::span(sorted).first(taken.size());
    std::sort(gaps.begin(), gaps.end());
    std::uint64_t left = pool.first.back();
    for (std::uint16_t const gap : gaps) left -= pool.first[gap + 1U] - pool.first[gap];
    if (left > 0) {
        std::uint64_t point = below_u64(random, left);
        for (std::uint16_t const gap : gaps)
            if (point >= pool.first[gap]) point += pool.first[gap + 1U] - pool.first[gap];
        auto const after = std::upper_bound(pool.first.begin(), pool.first.end(), point);
        return static_cast<std::uint16_t>(after - pool.first.begin() - 1);
    }
    // Only weightless experts are left: the n-th of them.
    auto place = random.below(static_cast<std::uint32_t>(pool.experts.size() - gaps.size()));
    for (std::uint16_t const gap : gaps)
        if (place >= gap) ++place;
    return static_cast<std::uint16_t>(place);
}

void WeightedSampler::draw(RandomSequence& random, std::span<std::uint16_t> chosen) const {
    Pool const& pool = pools_[pools_.size() == 1 ? 0 : pool_alias_.draw(random)];
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        auto const before = chosen.first(k);
        int rejections = 0;
        do chosen[k] = pool.alias.draw(random);
        while (contains(before, chosen[k]) && ++rejections < most_rejections);
        if (rejections == most_rejections) chosen[k] = search(pool, random, before);
    }
    for (std::uint16_t& place : chosen) place = pool.experts[place];
}

}  // namespace orrery
