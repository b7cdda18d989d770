// SPDX-License-Identifier: Apache-2.0
// How often an expert is chosen under given weights, and which weights make experts be chosen as often as measured.
#pragma once

#include "workloads/moe/weighted_sampler.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// Probability that each expert is among those a token chooses from WeightedSampler. Without a group limit by the
// asymptotic formula for successive sampling (Rosen, Ann. Math. Stat. 43, 1972): 1 - exp(-w t) with t such that the sum
// is k. With a limit the same inside every set of groups, weighted by the exact probability of the set.
std::vector<double> inclusion(std::vector<double> const& weights, ChoiceShape shape);

// The same in units of 2^-20, from the sampler's integer weights.
std::vector<std::uint64_t> inclusion_loads(std::vector<std::uint64_t> const& weights, ChoiceShape shape);

// The inverse: weights under which experts are chosen in proportion to `loads`. A load above 1/k of the total cannot be
// reached, because a token chooses an expert at most once; it is cut there. Zero loads have zero weight.
std::vector<std::uint64_t> weights_for_loads(std::vector<std::uint64_t> const& loads, ChoiceShape shape);

}  // namespace orrery
