// SPDX-License-Identifier: Apache-2.0
// The routing section of a scenario, joined with the model's facts.
#include "proto/scenario.pb.h"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/routing_source.hpp"

namespace orrery {

RoutingSetup make_routing_setup(scenario::RoutingSpec const& spec, ModelConfig const& model, std::uint32_t moe_layers,
                                std::uint64_t seed) {
    RoutingSetup setup;
    setup.source = spec.source();
    setup.zipf_s = spec.zipf_s();
    setup.file = spec.file();
    setup.same_for_all_layers = spec.same_for_all_layers();
    setup.seed = seed;
    setup.moe_layers = moe_layers;
    setup.experts = model.routed_experts;
    setup.top_k = model.top_k;
    if (spec.group_limited()) {
        setup.n_group = model.n_group;
        setup.topk_group = model.topk_group;
    }
    return setup;
}

}  // namespace orrery
