// SPDX-License-Identifier: Apache-2.0
// What the simulator needs to know of a mixture-of-experts model, read from its Hugging Face config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace orrery {

// How a full-attention layer keeps its keys and values: one compressed latent per token, or grouped heads.
enum class AttentionKind : std::uint8_t { mla, gqa };
enum class LayerAttention : std::uint8_t { full, linear };
enum class LayerFfn : std::uint8_t { dense, moe };

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434 sec. 2.1). All zero for other kinds.
struct MlaAttention {
    std::uint32_t q_lora_rank = 0;  // 0: queries are not compressed
    std::uint32_t kv_lora_rank = 0;
    std::uint32_t qk_nope_head_dim = 0;
    std::uint32_t qk_rope_head_dim = 0;
    std::uint32_t v_head_dim = 0;
    friend bool operator==(MlaAttention const&, MlaAttention const&) = default;
};

// Gated delta-rule attention with a constant state per sequence (Qwen3-Next, Qwen3.5, Kimi Linear).
struct LinearAttention {
    std::uint32_t key_heads = 0;
    std::uint32_t value_heads = 0;
    std::uint32_t key_head_dim = 0;
    std::uint32_t value_head_dim = 0;
    std::uint32_t conv_kernel = 0;
    friend bool operator==(LinearAttention const&, LinearAttention const&) = default;
};

struct ModelConfig {
    std::string name;        // from the file's path; not a fact about the model
    std::string model_type;  // as in the file
    std::uint32_t layers = 0;
    std::uint32_t hidden = 0;
    std::uint32_t heads = 0;
    std::uint32_t kv_heads = 0;
    std::uint32_t head_dim = 0;  // GQA only; 0 for MLA
    std::uint32_t vocab = 0;
    std::uint32_t mtp_layers = 0;  // extra layers that predict further tokens; not part of `layers`

    AttentionKind attention = AttentionKind::gqa;
    bool output_gate = false;  // the query projection also makes a gate of the same width
    bool tied_embeddings = false;
    MlaAttention mla;
    LinearAttention linear;
    std::vector<LayerAttention> attention_of;  // [layer]
    std::vector<LayerFfn> ffn_of;              // [layer]

    std::uint32_t routed_experts = 0;
    std::uint32_t top_k = 0;
    std::uint32_t n_group = 1;  // 1: no group limit
    std::uint32_t topk_group = 1;
    std::uint32_t expert_hidden = 0;  // width of a dispatched token: hidden, unless experts work on a projection of it
    std::uint32_t moe_width = 0;      // of one routed expert
    std::uint32_t dense_width = 0;    // of the dense layers' FFN; 0 when there is none
    std::uint32_t shared_experts = 0;
    std::uint32_t shared_width = 0;  // of all shared experts together: they are computed as one FFN

    std::vector<std::string> warnings;  // what the file says and the simulator does not model

    std::uint32_t moe_layers() const;
    std::uint32_t full_attention_layers() const;
    std::uint32_t leading_dense_layers() const;
    std::vector<std::uint32_t> moe_layer_indices() const;

    friend bool operator==(ModelConfig const&, ModelConfig const&) = default;
};

// Reads config.json, or the one inside a directory. Throws InputError naming file, key, value and fix; a model
// without routed experts or with an attention that is not modelled is refused.
ModelConfig read_model_config(std::filesystem::path const& path);

// Bytes in BF16 that one token leaves in the cache of one full-attention layer. DeepSeek-R1: (512 + 64) * 2 = 1152.
std::int64_t kv_bytes_per_token_per_layer(ModelConfig const&);

// Elements of one linear-attention layer's recurrent state and convolution window, per sequence.
std::int64_t linear_state_elements(ModelConfig const&);
std::int64_t conv_state_elements(ModelConfig const&);

// Weights of the projections of one layer's attention; of one routed expert; of all shared experts; of a dense FFN.
std::int64_t attention_weights(ModelConfig const&, LayerAttention);
std::int64_t expert_weights(ModelConfig const&);
std::int64_t shared_expert_weights(ModelConfig const&);
std::int64_t dense_ffn_weights(ModelConfig const&);

// All matrix weights, without norms, biases, MTP layers and vision towers.
std::int64_t total_weights(ModelConfig const&);

}  // namespace orrery
