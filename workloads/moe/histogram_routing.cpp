// SPDX-License-Identifier: Apache-2.0
// Routing source `histogram`: experts receive, on average, the loads of a file.
#include "core/check.hpp"
#include "workloads/moe/expert_loads.hpp"
#include "workloads/moe/inclusion.hpp"
#include "workloads/moe/routing_source.hpp"
#include "workloads/moe/token_random.hpp"
#include "workloads/moe/weighted_sampler.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

class HistogramRouting final : public RoutingSource {
  public:
    explicit HistogramRouting(RoutingSetup const& setup)
        : setup_(setup), loads_(read_expert_loads(setup.file, setup.experts, setup.top_k)) {
        std::size_t const layers = loads_.of_layer.size();
        ORRERY_VALIDATE(layers == 1 || layers >= setup.moe_layers,
                        "{}: the file has loads of {} layers (the simulated model has {} MoE layers) give one list per "
                        "MoE layer, exactly one list for all, or set workload.moe_layers={}",
                        setup.file.string(), layers, setup.moe_layers, layers);
        loads_.of_layer.resize(std::min<std::size_t>(layers, setup.moe_layers));
        for (std::size_t layer = 0; layer < loads_.of_layer.size(); ++layer) {
            auto const& loads = loads_.of_layer[layer];
            samplers_.emplace_back(weights_for_loads(loads, setup.choice()), setup.choice());
            note_unreachable(layer, loads);
        }
        describe_layers_ = layers == 1 ? "one list for all layers" : fmt::format("{} lists, one per MoE layer", layers);
    }

    void choose(std::uint32_t moe_layer, std::uint64_t token, std::span<std::uint16_t> experts) const override {
        RandomSequence random = token_random(setup_.seed, moe_layer, token);
        samplers_[index(moe_layer)].draw(random, experts);
    }
    std::vector<std::uint64_t> expected_load(std::uint32_t moe_layer) const override {
        return loads_.of_layer[index(moe_layer)];
    }
    std::string describe() const override {
        return fmt::format("histogram: loads of {} ({}), top-{} of {} experts{}", setup_.file.string(),
                           describe_layers_, setup_.top_k, setup_.experts, group_limit_text(setup_));
    }
    std::vector<std::string> warnings() const override { return loads_.warnings; }

  private:
    std::size_t index(std::uint32_t moe_layer) const { return samplers_.size() == 1 ? 0 : moe_layer; }

    void note_unreachable(std::size_t layer, std::vector<std::uint64_t> const& loads) {
        std::uint64_t const total = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
        auto const hottest = std::max_element(loads.begin(), loads.end());
        double const share = static_cast<double>(*hottest) / static_cast<double>(total);
        if (share * setup_.top_k <= 1) return;
        loads_.warnings.push_back(
            fmt::format("{}: layer {} expert {} has {:.3g} of the load, but a token of top-{} gives an expert at most "
                        "{:.3g}; cut there",
                        setup_.file.string(), layer, hottest - loads.begin(), share, setup_.top_k, 1.0 / setup_.top_k));
    }

    RoutingSetup setup_;
    ExpertLoads loads_;
    std::vector<WeightedSampler> samplers_;
    std::string describe_layers_;
};

RoutingSourceEntry const entry("histogram", [](RoutingSetup const& setup) -> std::unique_ptr<RoutingSource> {
    return std::make_unique<HistogramRouting>(setup);
});

}  // namespace
}  // namespace orrery
