// SPDX-License-Identifier: Apache-2.0
// Counts that follow from a model's shape.
#include "workloads/models/model_config.hpp"

#include <algorithm>

namespace orrery {
namespace {

std::int64_t product(std::int64_t a, std::int64_t b) {
    return a * b;
}
std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c) {
    return a * b * c;
}

std::int64_t mla_weights(ModelConfig const& model) {
    MlaAttention const& mla = model.mla;
    auto const query_dim = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
    std::int64_t const query = mla.q_lora_rank == 0 ? product(model.hidden, model.heads, query_dim)
                                                    : product(model.hidden, mla.q_lora_rank) +
                                                          product(mla.q_lora_rank, model.heads, query_dim);
    return query + product(model.hidden, mla.kv_lora_rank + mla.qk_rope_head_dim) +
           product(mla.kv_lora_rank, model.heads, mla.qk_nope_head_dim + mla.v_head_dim) +
           product(model.heads, mla.v_head_dim, model.hidden) * (model.output_gate ? 2 : 1);
}

std::int64_t gqa_weights(ModelConfig const& model) {
    return product(model.hidden, model.heads, model.head_dim) * (model.output_gate ? 3 : 2) +
           2 * product(model.hidden, model.kv_heads, model.head_dim);
}

std::int64_t linear_channels(LinearAttention const& linear) {
    return 2 * product(linear.key_heads, linear.key_head_dim) + product(linear.value_heads, linear.value_head_dim);
}

// Query, key, value, output gate, decay and beta in; one projection out; a short convolution over q, k and v.
std::int64_t linear_weights(ModelConfig const& model) {
    LinearAttention const& linear = model.linear;
    std::int64_t const value = product(linear.value_heads, linear.value_head_dim);
    return model.hidden * (linear_channels(linear) + value + 2 * std::int64_t{linear.value_heads}) +
           value * model.hidden + linear_channels(linear) * linear.conv_kernel;
}

}  // namespace

std::uint32_t ModelConfig::moe_layers() const {
    return static_cast<std::uint32_t>(std::count(ffn_of.begin(), ffn_of.end(), LayerFfn::moe));
}

std::uint32_t ModelConfig::full_attention_layers() const {
    return static_cast<std::uint32_t>(std::count(attention_of.begin(), attention_of.end(), LayerAttention::full));
}

std::uint32_t ModelConfig::leading_dense_layers() const {
    return static_cast<std::uint32_t>(std::find(ffn_of.begin(), ffn_of.end(), LayerFfn::moe) - ffn_of.begin());
}

std::vector<std::uint32_t> ModelConfig::moe_layer_indices() const {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t layer = 0; layer < layers; ++layer)
        if (ffn_of[layer] == LayerFfn::moe) indices.push_back(layer);
    return indices;
}

std::int64_t kv_bytes_per_token_per_layer(ModelConfig const& model) {
    if (model.attention == AttentionKind::mla)
        return 2 * std::int64_t{model.mla.kv_lora_rank + model.mla.qk_rope_head_dim};
    return 2 * 2 * product(model.kv_heads, model.head_dim);
}

std::int64_t linear_state_elements(ModelConfig const& model) {
    return product(model.linear.value_heads, model.linear.key_head_dim, model.linear.value_head_dim);
}

std::int64_t conv_state_elements(ModelConfig const& model) {
    return model.linear.conv_kernel == 0 ? 0 : linear_channels(model.linear) * (model.linear.conv_kernel - 1);
}

std::int64_t attention_weights(ModelConfig const& model, LayerAttention kind) {
    if (kind == LayerAttention::linear) return linear_weights(model);
    return model.attention == AttentionKind::mla ? mla_weights(model) : gqa_weights(model);
}

// Gate, up and down projection.
std::int64_t expert_weights(ModelConfig const& model) {
    return 3 * product(model.expert_hidden, model.moe_width);
}
std::int64_t shared_expert_weights(ModelConfig const& model) {
    return 3 * product(model.hidden, model.shared_width);
}
std::int64_t dense_ffn_weights(ModelConfig const& model) {
    return 3 * product(model.hidden, model.dense_width);
}

std::int64_t total_weights(ModelConfig const& model) {
    std::int64_t total = product(model.vocab, model.hidden) * (model.tied_embeddings ? 1 : 2);
    std::int64_t const compression =
        model.expert_hidden == model.hidden ? 0 : 2 * product(model.hidden, model.expert_hidden);
    std::int64_t const moe = expert_weights(model) * model.routed_experts + shared_expert_weights(model) +
                             product(model.hidden, model.routed_experts) + compression;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        total += attention_weights(model, model.attention_of[layer]);
        total += model.ffn_of[layer] == LayerFfn::moe ? moe : dense_ffn_weights(model);
    }
    return total;
}

}  // namespace orrery
