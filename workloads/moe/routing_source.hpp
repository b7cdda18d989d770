// SPDX-License-Identifier: Apache-2.0
// Which experts a token goes to: a pure function of (seed, MoE layer, token), so any process can compute any row.
#pragma once

#include "workloads/moe/weighted_sampler.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct ModelConfig;
namespace scenario {
class RoutingSpec;
}

class RoutingSource {
  public:
    virtual ~RoutingSource() = default;

    // Fills `experts` (its size is top-k) with distinct experts. `moe_layer` counts MoE layers only; token < 2^47.
    virtual void choose(std::uint32_t moe_layer, std::uint64_t token, std::span<std::uint16_t> experts) const = 0;

    // Relative integer load of every expert, for placement. At most 2^40 each.
    virtual std::vector<std::uint64_t> expected_load(std::uint32_t moe_layer) const = 0;

    // One sentence for the screen and the file.
    virtual std::string describe() const = 0;

    // What looks odd in the data behind the source.
    virtual std::vector<std::string> warnings() const { return {}; }
};

struct RoutingSetup {
    std::string source = "uniform";
    double zipf_s = 0;
    std::filesystem::path file;
    bool same_for_all_layers = false;
    std::uint64_t seed = 1;
    std::uint32_t moe_layers = 0;  // simulated ones
    std::uint32_t experts = 0;
    std::uint32_t top_k = 0;
    std::uint32_t n_group = 1;  // 1: no group limit
    std::uint32_t topk_group = 1;
    ChoiceShape choice() const { return {top_k, n_group, topk_group}; }
};

// From a resolved scenario and its model; `moe_layers` is the number simulated.
RoutingSetup make_routing_setup(scenario::RoutingSpec const&, ModelConfig const&, std::uint32_t moe_layers,
                                std::uint64_t seed);

// Builds the source registered under setup.source. Throws InputError for an unknown name or a bad file.
std::unique_ptr<RoutingSource> make_routing_source(RoutingSetup const&);
std::vector<std::string> routing_source_names();

// ", at most 4 of 8 groups per token", or nothing.
std::string group_limit_text(RoutingSetup const&);

// One file per source; each registers itself with a namespace-scope RoutingSourceEntry.
using RoutingSourceFactory = std::unique_ptr<RoutingSource> (*)(RoutingSetup const&);
struct RoutingSourceEntry {
    RoutingSourceEntry(char const* name, RoutingSourceFactory factory);
};

}  // namespace orrery
