// SPDX-License-Identifier: Apache-2.0
// Routing source `trace`: simulated tokens take the recorded choices of real ones.
#include "core/check.hpp"
#include "workloads/moe/routing_source.hpp"
#include "workloads/moe/trace_file.hpp"

#include <algorithm>

namespace orrery {
namespace {

class TraceRouting final : public RoutingSource {
  public:
    explicit TraceRouting(RoutingSetup const& setup)
        : setup_(setup), trace_(read_routing_trace(setup.file, {setup.experts, setup.top_k})) {
        // Later laps start elsewhere (the golden section of the trace), so that a token and the one a whole trace
        // later do not make the same choices at the same place of two batches.
        lap_offset_ = trace_.tokens * 618 / 1000;
    }

    void choose(std::uint32_t moe_layer, std::uint64_t token, std::span<std::uint16_t> experts) const override {
        std::uint64_t const lap = token / trace_.tokens;
        std::uint64_t const shift = lap % trace_.tokens * lap_offset_;
        auto const row = trace_.row((token + shift) % trace_.tokens, moe_layer % trace_.layers);
        std::copy(row.begin(), row.end(), experts.begin());
    }

    std::vector<std::uint64_t> expected_load(std::uint32_t moe_layer) const override {
        std::vector<std::uint64_t> load(trace_.experts, 0);
        for (std::uint64_t token = 0; token < trace_.tokens; ++token)
            for (std::uint16_t const expert : trace_.row(token, moe_layer % trace_.layers)) ++load[expert];
        return load;
    }

    std::string describe() const override {
        std::string const model = trace_.model.empty() ? "" : " of " + trace_.model;
        std::string const layers =
            trace_.layers == setup_.moe_layers ? fmt::format("{} layers", trace_.layers)
            : trace_.layers < setup_.moe_layers
                ? fmt::format("its {} layers repeated over the model's {}", trace_.layers, setup_.moe_layers)
                : fmt::format("the first {} of its {} layers", setup_.moe_layers, trace_.layers);
        return fmt::format(
            "trace: {} tokens{} from {}, top-{} of {} experts, {}; further tokens repeat it, each lap "
            "shifted by {}",
            trace_.tokens, model, setup_.file.string(), trace_.top_k, trace_.experts, layers, lap_offset_);
    }
    std::vector<std::string> warnings() const override { return trace_.warnings; }

  private:
    RoutingSetup setup_;
    RoutingTrace trace_;
    std::uint64_t lap_offset_ = 0;
};

RoutingSourceEntry const entry("trace", [](RoutingSetup const& setup) -> std::unique_ptr<RoutingSource> {
    return std::make_unique<TraceRouting>(setup);
});

}  // namespace
}  // namespace orrery
