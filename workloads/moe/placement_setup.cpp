// SPDX-License-Identifier: Apache-2.0
// The experts section of a scenario, joined with the model's facts.
#include "core/check.hpp"
#include "proto/scenario.pb.h"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/placement.hpp"

namespace orrery {

PlacementSetup make_placement_setup(scenario::ExpertsSpec const& spec, ModelConfig const& model, std::uint32_t ep,
                                    std::uint32_t moe_layers, std::uint32_t ranks_per_node) {
    PlacementSetup setup;
    setup.kind = spec.placement();
    setup.file = spec.file();
    setup.experts = model.routed_experts;
    setup.redundant = spec.redundant();
    if (spec.shared() == "dedicated") {
        ORRERY_VALIDATE(model.shared_experts > 0,
                        "workload.experts.shared is dedicated (model {} has no shared expert) use local", model.name);
        ORRERY_VALIDATE(spec.shared_copies() >= 1,
                        "workload.experts.shared_copies is 0 (dedicated shared experts need a slot) use 1 or more");
        setup.shared_copies = spec.shared_copies();
    }
    setup.ep = ep;
    setup.moe_layers = moe_layers;
    setup.n_group = model.n_group;
    setup.ranks_per_node = ranks_per_node;
    return setup;
}

}  // namespace orrery
