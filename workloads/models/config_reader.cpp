// SPDX-License-Identifier: Apache-2.0
// config.json -> ModelConfig. Key names per family as in the Transformers library and the vendors' modelling files.
#include "core/check.hpp"
#include "workloads/models/config_fields.hpp"
#include "workloads/models/json_file.hpp"
#include "workloads/models/layer_pattern.hpp"
#include "workloads/models/model_config.hpp"

namespace orrery {
namespace {

constexpr std::uint32_t most_layers = 10'000;
constexpr std::uint32_t most_width = 1'000'000;
constexpr std::uint32_t most_heads = 65'536;
constexpr std::uint32_t most_experts = 65'535;  // expert numbers are 16 bits wide
constexpr std::uint32_t most_top_k = 64;

void read_dimensions(ConfigFields const& fields, ModelConfig& model) {
    model.layers = fields.required({"num_hidden_layers"}, 1, most_layers);
    model.hidden = fields.required({"hidden_size"}, 1, most_width);
    model.heads = fields.required({"num_attention_heads"}, 1, most_heads);
    model.kv_heads = fields.number({"num_key_value_heads"}, 1, most_heads).value_or(model.heads);
    model.vocab = fields.required({"vocab_size"}, 1, 100'000'000);
    // The families count these differently (modules or layers); the first name present is the family's own.
    model.mtp_layers =
        fields.number({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}, 0, 1'000).value_or(0);
    model.tied_embeddings = fields.flag("tie_word_embeddings", false);
}

void read_full_attention(ConfigFields const& fields, ModelConfig& model) {
    if (fields.has({"compress_ratios"}))
        fields.refuse(fmt::format("model_type \"{}\" is not supported", model.model_type),
                      "compress_ratios: attention over a compressed context is not modelled",
                      "use a model with MLA, grouped-query or gated linear attention");
    // Qwen3-Next always gates its attention output; its successors say so in the file.
    model.output_gate = fields.flag("attn_output_gate", model.model_type == "qwen3_next") ||
                        fields.flag("attention_output_gate", false) || fields.flag("mla_use_output_gate", false);
    if (auto const latent = fields.number({"kv_lora_rank"}, 1, most_width)) {
        model.attention = AttentionKind::mla;
        model.mla.kv_lora_rank = *latent;
        model.mla.q_lora_rank = fields.number({"q_lora_rank"}, 0, most_width).value_or(0);
        model.mla.qk_nope_head_dim = fields.required({"qk_nope_head_dim"}, 1, most_width);
        model.mla.qk_rope_head_dim = fields.required({"qk_rope_head_dim"}, 0, most_width);
        model.mla.v_head_dim = fields.required({"v_head_dim"}, 1, most_width);
        return;
    }
    model.attention = AttentionKind::gqa;
    if (model.heads % model.kv_heads != 0)
        fields.refuse(fmt::format("num_key_value_heads is {}", model.kv_heads),
                      fmt::format("must divide num_attention_heads, which is {}", model.heads), "check both");
    if (auto const head_dim = fields.number({"head_dim"}, 1, most_width)) {
        model.head_dim = *head_dim;
    } else {
        if (model.hidden % model.heads != 0)
            fields.refuse("head_dim is missing",
                          fmt::format("hidden_size {} does not divide over {} heads", model.hidden, model.heads),
                          "add head_dim");
        model.head_dim = model.hidden / model.heads;
    }
}

void read_linear_attention(ConfigFields const& fields, ModelConfig& model) {
    if (model.full_attention_layers() == model.layers) return;
    LinearAttention& linear = model.linear;
    if (auto const* kimi = fields.find({"linear_attn_config"}); kimi != nullptr && kimi->is_object()) {
        ConfigFields const inner(*kimi, fields.file() + ": linear_attn_config");
        linear.key_heads = linear.value_heads = inner.required({"num_heads"}, 1, most_heads);
        linear.key_head_dim = linear.value_head_dim = inner.required({"head_dim"}, 1, most_width);
        linear.conv_kernel = inner.number({"short_conv_kernel_size"}, 1, 1'000).value_or(0);
        return;
    }
    linear.key_heads = fields.required({"linear_num_key_heads"}, 1, most_heads);
    linear.value_heads = fields.required({"linear_num_value_heads"}, 1, most_heads);
    linear.key_head_dim = fields.required({"linear_key_head_dim"}, 1, most_width);
    linear.value_head_dim = fields.required({"linear_value_head_dim"}, 1, most_width);
    linear.conv_kernel = fields.number({"linear_conv_kernel_dim"}, 1, 1'000).value_or(0);
}

void read_group_limit(ConfigFields const& fields, ModelConfig& model) {
    if (fields.text("topk_method") == "greedy") return;  // DeepSeek-V2-Lite: plain top-k whatever the groups say
    model.n_group = fields.number({"n_group", "num_expert_group"}, 1, most_experts).value_or(1);
    model.topk_group = fields.number({"topk_group"}, 1, most_experts).value_or(model.n_group);
    if (model.routed_experts % model.n_group != 0)
        fields.refuse(fmt::format("n_group is {}", model.n_group),
                      fmt::format("must divide the {} routed experts", model.routed_experts), "check both");
    if (model.topk_group > model.n_group)
        fields.refuse(fmt::format("topk_group is {}", model.topk_group),
                      fmt::format("must be at most n_group, which is {}", model.n_group), "check both");
    auto const reachable = std::uint64_t{model.topk_group} * (model.routed_experts / model.n_group);
    if (reachable < model.top_k)
        fields.refuse(fmt::format("topk_group is {}", model.topk_group),
                      fmt::format("its groups hold {} experts and a token chooses {}", reachable, model.top_k),
                      "check n_group and topk_group");
}

void read_experts(ConfigFields const& fields, ModelConfig& model) {
    ConfigFields::Keys const experts = {"n_routed_experts", "num_experts", "num_local_experts", "num_routed_experts"};
    fields.agree(experts);
    model.routed_experts = fields.number(experts, 0, most_experts).value_or(0);
    if (model.routed_experts == 0)
        fields.refuse(fmt::format("model \"{}\" has no routed experts", model.model_type),
                      "n_routed_experts, num_experts, num_local_experts and num_routed_experts are absent or 0",
                      "choose a mixture-of-experts model, such as scenarios/models/deepseek-r1.json");
    model.top_k = fields.required({"num_experts_per_tok", "num_experts_per_token", "moe_topk"}, 1, most_top_k);
    if (model.top_k > model.routed_experts)
        fields.refuse(fmt::format("num_experts_per_tok is {}", model.top_k),
                      fmt::format("there are {} routed experts", model.routed_experts), "check both");
    read_group_limit(fields, model);

    model.moe_width = fields.required({"moe_intermediate_size", "intermediate_size"}, 1, most_width);
    model.expert_hidden = fields.number({"routed_expert_hidden_size"}, 1, most_width).value_or(model.hidden);
    model.dense_width =
        fields.number({"dense_intermediate_size", "intermediate_size_mlp", "intermediate_size"}, 0, most_width)
            .value_or(0);
    if (model.dense_width == 0 && model.moe_layers() < model.layers)
        fields.refuse("intermediate_size is missing",
                      fmt::format("{} of {} layers are dense", model.layers - model.moe_layers(), model.layers),
                      "add the width of the dense layers");
}

void read_shared_experts(ConfigFields const& fields, ModelConfig& model) {
    model.shared_experts = fields.number({"n_shared_experts", "num_shared_experts"}, 0, 1'000).value_or(0);
    auto const stated = fields.number({"shared_expert_intermediate_size", "shared_intermediate_size"}, 0, most_width);
    if (stated) {
        model.shared_width = *stated;
        if (*stated > 0 && model.shared_experts == 0) model.shared_experts = 1;
        if (*stated == 0) model.shared_experts = 0;
    } else if (model.model_type.starts_with("llama4")) {
        model.shared_experts = 1;  // Llama 4 adds one expert-sized FFN to every MoE layer and has no key for it
        model.shared_width = model.moe_width;
    } else {
        model.shared_width = model.shared_experts * model.moe_width;
    }
}

void note_what_is_not_modelled(ConfigFields const& fields, ModelConfig& model) {
    auto const note = [&](char const* key, std::string const& effect) {
        auto const* value = fields.find({key});
        if (value == nullptr) return;
        std::string const shown = value->is_number() ? " " + value->dump() : "";
        model.warnings.push_back(fmt::format("{}{}: {}", key, shown, effect));
    };
    std::string const as_full = "priced as full attention, which is too slow for longer contexts";
    note("index_topk", "sparse attention is " + as_full);
    note("sparse_attention_config", "sparse attention is " + as_full);
    note("attention_chunk_size", "chunked attention is " + as_full);
    if (fields.flag("use_sliding_window", true)) note("sliding_window", "windowed attention is " + as_full);
}

std::string name_of(std::filesystem::path const& path) {
    auto const parent = path.parent_path().filename();
    return path.filename() == "config.json" && !parent.empty() ? parent.string() : path.stem().string();
}

}  // namespace

ModelConfig read_model_config(std::filesystem::path const& path) {
    std::error_code ignored;
    auto const file = std::filesystem::is_directory(path, ignored) ? path / "config.json" : path;
    nlohmann::json const root = parse_json_file(file, "model");
    ORRERY_VALIDATE(root.is_object(),
                    "{}: the model file holds no JSON object (a config.json is an object of keys) "
                    "give the model's config.json",
                    file.string());
    // Multi-modal models keep the language model's keys one level down.
    auto const nested = root.find("text_config");
    bool const has_text = nested != root.end() && nested->is_object();
    ConfigFields const fields(has_text ? *nested : root, has_text ? file.string() + ": text_config" : file.string());

    ModelConfig model;
    model.name = name_of(file);
    model.model_type = fields.text("model_type");
    read_dimensions(fields, model);
    read_full_attention(fields, model);
    read_attention_pattern(fields, model);
    read_linear_attention(fields, model);
    // Experts before their layers, so that a dense model is refused for what it is.
    if (fields.has({"n_routed_experts", "num_experts", "num_local_experts", "num_routed_experts"}))
        read_ffn_pattern(fields, model);
    read_experts(fields, model);
    read_shared_experts(fields, model);
    note_what_is_not_modelled(fields, model);
    return model;
}

}  // namespace orrery
