// SPDX-License-Identifier: Apache-2.0
// A text workload of layers (ASTRA-sim 1, SimAI, AICB) as it stands in its file.
#pragma once

#include "workloads/collectives/shape.hpp"
#include "workloads/imports/findings.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// The first word of the file: what is communicated when.
enum class LayerPolicy : std::uint8_t {
    micro,
    data,
    model,
    data_model,
    model_data,
    transformer,
    transformer_recomputing,  // HYBRID_TRANSFORMER_FWD_IN_BCKWD
    dlrm,
    customized,  // each layer says its own
};

// Which ranks a layer's collective is over.
enum class LayerGroup : std::uint8_t { tensor, data, expert, data_of_expert };
inline constexpr int layer_group_count = 4;
char const* name_of(LayerGroup);  // "TP", "DP", "EP", "DP_EP"

struct LayerComm {
    std::vector<CollectiveOp> ops;  // one after the other; empty: none
    LayerGroup group{};
    std::int64_t bytes = 0;
};

// Of one direction: forward, input gradient, weight gradient.
struct LayerPhase {
    std::int64_t compute_ns = 0;
    LayerComm comm;
};

struct Layer {
    std::string name;
    std::uint64_t line = 0;
    LayerPhase forward, input_gradient, weight_gradient;
    std::int64_t update_ns = 0;  // after the collective of the weight gradient
    LayerPolicy policy{};        // that of the file, or its own
};

struct LayerFile {
    std::string file;
    LayerPolicy policy{};
    // Of the header; 0: it does not say.
    std::int64_t tensor = 0, expert = 0, pipeline = 0, virtual_pipeline = 0, accumulation = 0, ranks = 0;
    std::int64_t pipeline_bytes = 0;  // pp_comm
    std::int64_t last_bottom_layer = 0;
    std::vector<std::int64_t> checkpoints, recompute_from;  // layers
    std::vector<Layer> layers;
};

// Whether the first word of a file is a policy.
bool is_layer_policy(std::string_view word);
LayerFile read_layer_file(std::filesystem::path const& path, Findings& findings);

}  // namespace orrery
