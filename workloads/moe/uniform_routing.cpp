// SPDX-License-Identifier: Apache-2.0
// Routing source `uniform`: every expert is equally likely.
#include "workloads/moe/routing_source.hpp"
#include "workloads/moe/token_random.hpp"
#include "workloads/moe/weighted_sampler.hpp"

#include <fmt/format.h>

namespace orrery {
namespace {

class UniformRouting final : public RoutingSource {
  public:
    explicit UniformRouting(RoutingSetup const& setup)
        : setup_(setup), sampler_(std::vector<std::uint64_t>(setup.experts, 1), setup.choice()) {}

    void choose(std::uint32_t moe_layer, std::uint64_t token, std::span<std::uint16_t> experts) const override {
        RandomSequence random = token_random(setup_.seed, moe_layer, token);
        sampler_.draw(random, experts);
    }
    std::vector<std::uint64_t> expected_load(std::uint32_t) const override { return sampler_.weights(); }
    std::string describe() const override {
        return fmt::format("uniform: top-{} of {} experts{}", setup_.top_k, setup_.experts, group_limit_text(setup_));
    }

  private:
    RoutingSetup setup_;
    WeightedSampler sampler_;
};

RoutingSourceEntry const entry("uniform", [](RoutingSetup const& setup) -> std::unique_ptr<RoutingSource> {
    return std::make_unique<UniformRouting>(setup);
});

}  // namespace
}  // namespace orrery
