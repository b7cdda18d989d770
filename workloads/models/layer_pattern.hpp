// SPDX-License-Identifier: Apache-2.0
// Which layers have experts and which have linear attention: the many spellings of a config.json.
#pragma once

#include "workloads/models/config_fields.hpp"
#include "workloads/models/model_config.hpp"

namespace orrery {

// Needs model.layers. Reads mlp_layer_types, moe_layer_freq (step or list), moe_layers, first_k_dense_replace,
// decoder_sparse_step, mlp_only_layers and interleave_moe_layer_step.
void read_ffn_pattern(ConfigFields const&, ModelConfig&);

// Needs model.layers. Reads layer_types, full_attention_interval, attn_type_list and linear_attn_config.
void read_attention_pattern(ConfigFields const&, ModelConfig&);

}  // namespace orrery
