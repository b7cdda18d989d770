// SPDX-License-Identifier: Apache-2.0
#include "workloads/devices/attention_price.hpp"

#include "workloads/devices/roofline.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr double bf16_bytes = 2;
constexpr double fp32_bytes = 4;
// Tokens that a chunked linear attention handles as one block (flash-linear-attention's default).
constexpr double linear_chunk = 64;

struct Batch {
    double sequences = 0;
    double new_tokens = 0;  // per sequence
    double context = 0;     // per sequence, the new tokens included
    double tokens() const { return sequences * new_tokens; }
};

// All projections as two INT8 kernels (before and after the core): weights read once, activations in and out in BF16.
Kernel projections(ModelConfig const& model, Batch const& batch, LayerAttention kind) {
    auto const weights = static_cast<double>(attention_weights(model, kind));
    double const activations = batch.tokens() * model.hidden * 2 * bf16_bytes;
    return {"projections", Cube::int8, 2 * weights * batch.tokens(), weights + activations, 2};
}

// Absorbed MLA (DeepSeek-V2, arXiv:2405.04434 sec. 2.1.2): scores against the latent and its rotary part, values from
// the latent, so that a context token costs 2 (kv_lora + rope) + 2 kv_lora per head and new token. The cache of a
// sequence is read once for all heads and new tokens.
Kernel decode_core(ModelConfig const& model, Batch const& batch) {
    double const per_head =
        model.attention == AttentionKind::mla
            ? 2.0 * (model.mla.kv_lora_rank + model.mla.qk_rope_head_dim) + 2.0 * model.mla.kv_lora_rank
            : 4.0 * model.head_dim;
    double const cached = batch.sequences * batch.context;
    return {"core", Cube::bf16, cached * batch.new_tokens * model.heads * per_head,
            cached * static_cast<double>(kv_bytes_per_token_per_layer(model)), 1};
}

// Causal attention over decompressed heads: a new token sees the older context and half of the new one.
Kernel prefill_core(ModelConfig const& model, Batch const& batch) {
    bool const mla = model.attention == AttentionKind::mla;
    double const query_dim = mla ? model.mla.qk_nope_head_dim + model.mla.qk_rope_head_dim : model.head_dim;
    double const value_dim = mla ? model.mla.v_head_dim : model.head_dim;
    double const kv_heads = mla ? model.heads : model.kv_heads;
    double const seen =
        batch.new_tokens * (batch.context - batch.new_tokens) + batch.new_tokens * (batch.new_tokens + 1) / 2;
    double const query_and_output = batch.new_tokens * model.heads * (query_dim + value_dim);
    double const keys_and_values = batch.context * kv_heads * (query_dim + value_dim);
    return {"core", Cube::bf16, batch.sequences * seen * model.heads * 2 * (query_dim + value_dim),
            batch.sequences * (query_and_output + keys_and_values) * bf16_bytes, 1};
}

// The gated delta rule (arXiv:2412.06464) per token and state element: decay 1, read 2, correct 2, query 2. The state
// lies in FP32 and is read and written once per step, whatever the context.
Kernel linear_decode_core(ModelConfig const& model, Batch const& batch) {
    auto const state = static_cast<double>(linear_state_elements(model));
    auto const window = static_cast<double>(conv_state_elements(model));
    return {"state", Cube::bf16, 7 * state * batch.tokens(),
            2 * batch.sequences * (state * fp32_bytes + window * bf16_bytes), 1};
}

// The chunked form of the same rule: per token 4 operations per state element (update and query of the carried state)
// and, against the tokens of its chunk, scores and values as in attention.
Kernel linear_prefill_core(ModelConfig const& model, Batch const& batch) {
    LinearAttention const& linear = model.linear;
    auto const state = static_cast<double>(linear_state_elements(model));
    double const in_chunk = 2 * linear_chunk * linear.value_heads * (2.0 * linear.key_head_dim + linear.value_head_dim);
    double const channels =
        2.0 * linear.key_heads * linear.key_head_dim + 2.0 * linear.value_heads * linear.value_head_dim;
    return {"state", Cube::bf16, batch.tokens() * (4 * state + in_chunk),
            batch.tokens() * channels * bf16_bytes + batch.sequences * state * fp32_bytes, 1};
}

}  // namespace

OpPrice price_attention(Device const& device, ModelConfig const& model, Phase phase, std::uint32_t sequences,
                        std::uint32_t new_tokens_per_sequence, std::uint32_t context, LayerAttention kind) {
    Batch const batch{static_cast<double>(sequences), static_cast<double>(new_tokens_per_sequence),
                      static_cast<double>(std::max(context, new_tokens_per_sequence))};
    bool const linear = kind == LayerAttention::linear;
    Kernel const core = phase == Phase::decode
                            ? (linear ? linear_decode_core(model, batch) : decode_core(model, batch))
                            : (linear ? linear_prefill_core(model, batch) : prefill_core(model, batch));
    return price(device, {projections(model, batch, kind), core});
}

}  // namespace orrery
