// SPDX-License-Identifier: Apache-2.0
// What one layer's attention costs on one rank: projections in INT8, the core in BF16.
#pragma once

#include "workloads/devices/device.hpp"
#include "workloads/models/model_config.hpp"

namespace orrery {

// `context`: tokens in the cache that a new token attends to, the new ones included. Prefill of whole prompts has
// context == new_tokens_per_sequence; a larger context is a chunk that continues a prompt.
OpPrice price_attention(Device const&, ModelConfig const&, Phase, std::uint32_t sequences,
                        std::uint32_t new_tokens_per_sequence, std::uint32_t context, LayerAttention);

}  // namespace orrery
