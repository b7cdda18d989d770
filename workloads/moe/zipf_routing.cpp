// SPDX-License-Identifier: Apache-2.0
// Routing source `zipf`: the k-th most popular expert has weight 1/k^s; who is popular differs from layer to layer.
#include "core/check.hpp"
#include "workloads/moe/inclusion.hpp"
#include "workloads/moe/routing_source.hpp"
#include "workloads/moe/token_random.hpp"
#include "workloads/moe/weighted_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

// Rounded to 2^-32 of the largest, so that the last bits of pow() cannot matter; never zero.
std::uint64_t zipf_weight(std::uint32_t rank, double s) {
    auto const weight = static_cast<std::uint64_t>(std::llround(std::pow(static_cast<double>(rank), -s) * 0x1p32));
    return std::max<std::uint64_t>(weight, 1);
}

// A seeded bijection (Fisher-Yates): [popularity] -> expert.
std::vector<std::uint32_t> popularity_order(std::uint64_t seed, std::uint32_t layer, std::uint32_t experts) {
    std::vector<std::uint32_t> order(experts);
    std::iota(order.begin(), order.end(), 0U);
    RandomSequence random = layer_random(seed, layer);
    for (std::uint32_t left = experts; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

class ZipfRouting final : public RoutingSource {
  public:
    explicit ZipfRouting(RoutingSetup const& setup) : setup_(setup) {
        ORRERY_VALIDATE(setup.zipf_s >= 0 && setup.zipf_s <= 10,
                        "workload.routing.zipf_s is {} (must be from 0 to 10) 0 is uniform, 1 is strongly skewed",
                        setup.zipf_s);
        std::uint32_t const different = setup.same_for_all_layers ? 1 : setup.moe_layers;
        for (std::uint32_t layer = 0; layer < different; ++layer) {
            auto const order = popularity_order(setup.seed, layer, setup.experts);
            std::vector<std::uint64_t> weights(setup.experts);
            for (std::uint32_t rank = 0; rank < setup.experts; ++rank)
                weights[order[rank]] = zipf_weight(rank + 1, setup.zipf_s);
            samplers_.emplace_back(std::move(weights), setup.choice());
        }
    }

    void choose(std::uint32_t moe_layer, std::uint64_t token, std::span<std::uint16_t> experts) const override {
        RandomSequence random = token_random(setup_.seed, moe_layer, token);
        sampler(moe_layer).draw(random, experts);
    }
    std::vector<std::uint64_t> expected_load(std::uint32_t moe_layer) const override {
        return inclusion_loads(sampler(moe_layer).weights(), setup_.choice());
    }
    std::string describe() const override {
        return fmt::format(
            "zipf: weight 1/k^{}, top-{} of {} experts, {}{}", setup_.zipf_s, setup_.top_k, setup_.experts,
            setup_.same_for_all_layers ? "the same order in every layer" : "another order in every layer",
            group_limit_text(setup_));
    }

  private:
    WeightedSampler const& sampler(std::uint32_t layer) const {
        return samplers_[setup_.same_for_all_layers ? 0 : layer];
    }

    RoutingSetup setup_;
    std::vector<WeightedSampler> samplers_;
};

RoutingSourceEntry const entry("zipf", [](RoutingSetup const& setup) -> std::unique_ptr<RoutingSource> {
    return std::make_unique<ZipfRouting>(setup);
});

}  // namespace
}  // namespace orrery
