// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/layer_pattern.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr char const* take_published = "take the list from the model's published config.json";

void expect_one_per_layer(ConfigFields const& fields, char const* key, std::size_t size, std::uint32_t layers) {
    if (size != layers)
        fields.refuse(fmt::format("{} has {} entries", key, size),
                      fmt::format("num_hidden_layers is {}; one entry per layer is needed", layers), take_published);
}

void expect_layers(ConfigFields const& fields, char const* key, std::vector<std::int64_t> const& list,
                   std::int64_t first, std::int64_t last) {
    for (std::int64_t const layer : list)
        if (layer < first || layer > last)
            fields.refuse(fmt::format("{} names layer {}", key, layer), fmt::format("layers are {} to {}", first, last),
                          take_published);
}

bool contains(std::vector<std::int64_t> const& list, std::int64_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

void from_step_rules(ConfigFields const& fields, ModelConfig& model) {
    constexpr std::uint32_t most = 1'000'000;
    auto const first_moe = fields.number({"first_k_dense_replace"}, 0, most).value_or(0);
    auto const every = fields.number({"moe_layer_freq"}, 1, most).value_or(1);
    auto const sparse_step = fields.number({"decoder_sparse_step"}, 1, most).value_or(1);
    auto const interleave = fields.number({"interleave_moe_layer_step"}, 1, most).value_or(1);
    auto const dense_only = fields.integers("mlp_only_layers").value_or(std::vector<std::int64_t>{});
    expect_layers(fields, "mlp_only_layers", dense_only, 0, model.layers - 1);
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        bool const moe = layer >= first_moe && layer % every == 0 && (layer + 1) % sparse_step == 0 &&
                         (layer + 1) % interleave == 0 && !contains(dense_only, layer);
        model.ffn_of[layer] = moe ? LayerFfn::moe : LayerFfn::dense;
    }
}

}  // namespace

void read_ffn_pattern(ConfigFields const& fields, ModelConfig& model) {
    model.ffn_of.assign(model.layers, LayerFfn::dense);
    auto const* frequency = fields.find({"moe_layer_freq"});
    if (auto const types = fields.strings("mlp_layer_types")) {
        expect_one_per_layer(fields, "mlp_layer_types", types->size(), model.layers);
        for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
            std::string const& type = (*types)[layer];
            if (type != "dense" && type != "sparse")
                fields.refuse(fmt::format("mlp_layer_types[{}] is \"{}\"", layer, type), "dense or sparse is known",
                              take_published);
            if (type == "sparse") model.ffn_of[layer] = LayerFfn::moe;
        }
    } else if (frequency != nullptr && frequency->is_array()) {
        auto const list = *fields.integers("moe_layer_freq");
        expect_one_per_layer(fields, "moe_layer_freq", list.size(), model.layers);
        for (std::uint32_t layer = 0; layer < model.layers; ++layer)
            if (list[layer] != 0) model.ffn_of[layer] = LayerFfn::moe;
    } else if (auto const list = fields.integers("moe_layers")) {
        expect_layers(fields, "moe_layers", *list, 0, model.layers - 1);
        for (std::int64_t const layer : *list) model.ffn_of[static_cast<std::size_t>(layer)] = LayerFfn::moe;
    } else {
        from_step_rules(fields, model);
    }
    if (model.moe_layers() == 0)
        fields.refuse("no layer has experts", "the layer pattern makes every layer dense",
                      "check first_k_dense_replace, moe_layer_freq, mlp_only_layers and decoder_sparse_step");
}

void read_attention_pattern(ConfigFields const& fields, ModelConfig& model) {
    model.attention_of.assign(model.layers, LayerAttention::full);
    if (auto const types = fields.strings("layer_types")) {
        expect_one_per_layer(fields, "layer_types", types->size(), model.layers);
        bool windowed = false;
        for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
            std::string const& type = (*types)[layer];
            if (type == "linear_attention")
                model.attention_of[layer] = LayerAttention::linear;
            else if (type == "sliding_attention" || type == "chunked_attention")
                windowed = true;
            else if (type != "full_attention")
                fields.refuse(fmt::format("layer_types[{}] is \"{}\"", layer, type),
                              "full_attention, linear_attention, sliding_attention and chunked_attention are known",
                              take_published);
        }
        if (windowed) model.warnings.emplace_back("layer_types: windowed layers are priced as full attention");
    } else if (auto const interval = fields.number({"full_attention_interval"}, 1, 1'000'000)) {
        // Transformers: layer i is linear if (i + 1) % interval is not zero.
        for (std::uint32_t layer = 0; layer < model.layers; ++layer)
            if ((layer + 1) % *interval != 0) model.attention_of[layer] = LayerAttention::linear;
    } else if (auto const list = fields.integers("attn_type_list")) {
        expect_one_per_layer(fields, "attn_type_list", list->size(), model.layers);
        if (!std::all_of(list->begin(), list->end(), [](std::int64_t type) { return type == 1; }))
            fields.refuse("attn_type_list names layers other than 1", "lightning attention is not modelled",
                          "use a model with full attention in every layer, or set the entries to 1 to price it so");
    } else if (auto const* kimi = fields.find({"linear_attn_config"}); kimi != nullptr && kimi->is_object()) {
        // Kimi Linear numbers its layers from 1.
        ConfigFields const linear(*kimi, fields.file() + ": linear_attn_config");
        auto const full = linear.integers("full_attn_layers");
        if (!full) linear.refuse("full_attn_layers is missing", "needed beside linear attention", take_published);
        expect_layers(linear, "full_attn_layers", *full, 1, model.layers);
        for (std::uint32_t layer = 0; layer < model.layers; ++layer)
            if (!contains(*full, layer + 1)) model.attention_of[layer] = LayerAttention::linear;
    }
}

}  // namespace orrery
