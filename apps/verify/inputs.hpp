// SPDX-License-Identifier: Apache-2.0
// Small inputs for closed-form cases, read through the product's own loader from a directory that is gone afterwards.
#pragma once

#include "apps/run/job.hpp"
#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace orrery {

// A model's config.json in DeepSeek-V3's shape with the given experts; every layer but the first three is MoE.
struct ModelFacts {
    std::uint32_t experts = 256, top_k = 8;
    std::uint32_t groups = 8, groups_per_token = 4;
};
std::string model_json(ModelFacts facts);

// Builds the fabric of a scenario whose `fabric:` group is this YAML, degradations applied.
std::unique_ptr<Fabric> fabric_of(std::string const& yaml);

// A complete job. The YAML finds its model as `model.json` and expert loads, if it asks for any, as `loads.json`.
std::unique_ptr<Job> job_of(std::string const& yaml, ModelFacts facts = {}, std::string const& loads_json = {});

}  // namespace orrery
