// SPDX-License-Identifier: Apache-2.0
// Models read from config.json: shipped descriptors, every reference file, and refusals.
#include "core/check.hpp"
#include "tests/workloads/shared_data.hpp"
#include "workloads/models/model_config.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string const small_moe = R"({"model_type": "tiny", "num_hidden_layers": 6, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "intermediate_size": 128)";

ModelConfig read(std::string const& text) {
    test::TempFile const file("config_under_test.json", text);
    return read_model_config(file.path());
}

std::string refusal(std::string const& text) {
    return test::complaint<InputError>([&] { read(text); });
}

TEST(Model, DeepSeekR1HasThePublishedShape) {
    ModelConfig const model = read_model_config(test::shipped_model("deepseek-r1.json"));
    EXPECT_EQ(model.layers, 61U);
    EXPECT_EQ(model.moe_layers(), 58U);
    EXPECT_EQ(model.leading_dense_layers(), 3U);
    EXPECT_EQ(model.moe_layer_indices().front(), 3U);
    EXPECT_EQ(model.attention, AttentionKind::mla);
    EXPECT_EQ(model.routed_experts, 256U);
    EXPECT_EQ(model.top_k, 8U);
    EXPECT_EQ(model.n_group, 8U);
    EXPECT_EQ(model.topk_group, 4U);
    EXPECT_EQ(kv_bytes_per_token_per_layer(model), 1152);
    EXPECT_EQ(expert_weights(model), 3 * 7168 * 2048);
    EXPECT_EQ(shared_expert_weights(model), 3 * 7168 * 2048);
    EXPECT_EQ(dense_ffn_weights(model), 3 * 7168 * 18432);
    // 671 B in the technical report's title line.
    EXPECT_NEAR(static_cast<double>(total_weights(model)), 671e9, 1e9);
    EXPECT_TRUE(model.warnings.empty());
}

TEST(Model, QwenHybridHasEveryFourthLayerFull) {
    ModelConfig const model = read_model_config(test::shipped_model("qwen3.5-397b-a17b.json"));
    EXPECT_EQ(model.full_attention_layers(), 15U);
    EXPECT_EQ(model.attention_of[2], LayerAttention::linear);
    EXPECT_EQ(model.attention_of[3], LayerAttention::full);
    EXPECT_EQ(linear_state_elements(model), 64 * 128 * 128);
    EXPECT_EQ(conv_state_elements(model), (2 * 16 * 128 + 64 * 128) * 3);
    EXPECT_EQ(model.shared_experts, 1U);
    EXPECT_EQ(model.shared_width, 1024U);
    EXPECT_NEAR(static_cast<double>(total_weights(model)), 396.346e9, 0.1e9);
}

TEST(Model, ShippedDescriptorsEqualThePublishedFiles) {
    ORRERY_NEEDS_SHARED_DATA();
    std::map<std::string, std::string> const pairs = {{"deepseek-r1.json", "deepseek-ai--DeepSeek-R1.json"},
                                                      {"deepseek-v3.json", "deepseek-ai--DeepSeek-V3.json"},
                                                      {"kimi-k2.json", "moonshotai--Kimi-K2-Instruct.json"},
                                                      {"qwen3-235b-a22b.json", "Qwen--Qwen3-235B-A22B.json"},
                                                      {"qwen3.5-397b-a17b.json", "Qwen--Qwen3.5-397B-A17B.json"}};
    for (auto const& [ours, theirs] : pairs) {
        ModelConfig a = read_model_config(test::shipped_model(ours.c_str()));
        ModelConfig b = read_model_config(test::shared_data() / "model_configs" / theirs);
        a.name = b.name = "";
        EXPECT_TRUE(a == b) << ours;
    }
}

std::vector<std::string> row_of(std::string const& line) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell.substr(0, cell.find('\r')));
    return cells;
}

TEST(Model, ReferenceFilesAgreeWithTheirSummary) {
    ORRERY_NEEDS_SHARED_DATA();
    std::ifstream summary(test::shared_data() / "model_configs/model_summary.csv");
    std::string line;
    std::getline(summary, line);
    auto const header = row_of(line);
    int compared = 0;
    while (std::getline(summary, line)) {
        auto cells = row_of(line);
        cells.resize(header.size());
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells[i];
        auto const path = test::shared_data() / "model_configs" / (row["model"] + ".json");
        if (row["experts"] == "0") {
            EXPECT_THAT(test::complaint<InputError>([&] { read_model_config(path); }),
                        HasSubstr("has no routed experts"));
            continue;
        }
        ModelConfig const model = read_model_config(path);
        SCOPED_TRACE(row["model"]);
        auto const is = [&](char const* column, std::uint64_t value) {
            EXPECT_EQ(row[column].empty() ? 0U : std::stoull(row[column]), value) << column;
        };
        EXPECT_EQ(row["model_type"], model.model_type);
        is("layers", model.layers);
        is("hidden", model.hidden);
        is("heads", model.heads);
        is("kv_heads", model.kv_heads);
        is("n_full", model.full_attention_layers());
        is("n_linear", model.layers - model.full_attention_layers());
        is("experts", model.routed_experts);
        is("topk", model.top_k);
        is("moe_inter", model.moe_width);
        is("dense_inter", model.dense_width);
        is("shared_inter", model.shared_width);
        is("first_k_dense", model.leading_dense_layers());
        is("vocab", model.vocab);
        is("mtp", model.mtp_layers);
        is("kv_bytes_per_tok",
           static_cast<std::uint64_t>(kv_bytes_per_token_per_layer(model)) * model.full_attention_layers());
        is("gdn_state_elems_per_layer", static_cast<std::uint64_t>(linear_state_elements(model)));
        is("gdn_conv_elems_per_layer", static_cast<std::uint64_t>(conv_state_elements(model)));
        double const billions = std::stod(row["total_B"]);
        EXPECT_NEAR(static_cast<double>(total_weights(model)) * 1e-9, billions, 0.001 * billions);
        ++compared;
    }
    EXPECT_GE(compared, 20);
}

TEST(Model, EveryReferenceFileIsReadOrRefusedWithAReason) {
    ORRERY_NEEDS_SHARED_DATA();
    std::map<std::string, std::string> const refused = {{"Qwen--Qwen3-VL-8B-Instruct.json", "has no routed experts"},
                                                        {"Qwen--Qwen3.5-27B.json", "has no routed experts"},
                                                        {"deepseek-ai--DeepSeek-V4-Flash.json", "compress_ratios"},
                                                        {"deepseek-ai--DeepSeek-V4-Pro.json", "compress_ratios"}};
    int read = 0;
    for (char const* folder : {"model_configs", "realfiles/hf_config"})
        for (auto const& entry : std::filesystem::directory_iterator(test::shared_data() / folder)) {
            if (entry.path().extension() != ".json") continue;
            auto const reason = refused.find(entry.path().filename().string());
            std::string const said = test::complaint<InputError>([&] { read_model_config(entry.path()); });
            if (reason == refused.end())
                EXPECT_EQ(said, "") << entry.path();
            else
                EXPECT_THAT(said, AllOf(HasSubstr(entry.path().string()), HasSubstr(reason->second)));
            ++read;
        }
    EXPECT_GE(read, 30);
}

TEST(Model, OtherFamiliesSpellTheSameFactsDifferently) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const configs = test::shared_data() / "model_configs";
    auto const files = test::shared_data() / "realfiles/hf_config";
    ModelConfig const mixtral = read_model_config(files / "Mixtral-8x7B-v0.1.json");
    EXPECT_EQ(mixtral.routed_experts, 8U);
    EXPECT_EQ(mixtral.head_dim, 128U);
    EXPECT_EQ(mixtral.moe_width, 14336U);
    ModelConfig const llama = read_model_config(files / "llama-4-scout-16e.json");
    EXPECT_EQ(llama.moe_layers(), 48U);
    EXPECT_EQ(llama.shared_width, 8192U);
    EXPECT_EQ(llama.warnings.size(), 1U);  // attention_chunk_size
    ModelConfig const lite = read_model_config(files / "deepseek-v2-lite.json");
    EXPECT_EQ(lite.mla.q_lora_rank, 0U);
    EXPECT_EQ(lite.shared_width, 2U * 1408U);
    EXPECT_EQ(read_model_config(files / "deepseek_v3_config.json").routed_experts, 256U);
    ModelConfig const k3 = read_model_config(configs / "moonshotai--Kimi-K3.json");
    EXPECT_EQ(k3.top_k, 16U);
    EXPECT_EQ(k3.expert_hidden, 3584U);
    EXPECT_EQ(k3.attention_of[3], LayerAttention::full);
    EXPECT_EQ(k3.attention_of[4], LayerAttention::linear);
    ModelConfig const m3 = read_model_config(configs / "MiniMaxAI--MiniMax-M3.json");
    EXPECT_EQ(m3.leading_dense_layers(), 3U);
    EXPECT_EQ(m3.dense_width, 12288U);
    EXPECT_EQ(m3.shared_width, 3072U);
}

TEST(Model, LayerRulesDecideWhichLayersHaveExperts) {
    ModelConfig const steps = read(small_moe + R"(, "decoder_sparse_step": 2, "mlp_only_layers": [3]})");
    EXPECT_EQ(steps.moe_layer_indices(), (std::vector<std::uint32_t>{1, 5}));
    ModelConfig const listed = read(small_moe + R"(, "moe_layer_freq": [0, 1, 1, 0, 0, 1]})");
    EXPECT_EQ(listed.moe_layer_indices(), (std::vector<std::uint32_t>{1, 2, 5}));
    ModelConfig const frequency = read(small_moe + R"(, "moe_layer_freq": 2, "first_k_dense_replace": 1})");
    EXPECT_EQ(frequency.moe_layer_indices(), (std::vector<std::uint32_t>{2, 4}));
    EXPECT_THAT(refusal(small_moe + R"(, "first_k_dense_replace": 6})"), HasSubstr("no layer has experts"));
    EXPECT_THAT(refusal(small_moe + R"(, "moe_layer_freq": [0, 1]})"), HasSubstr("moe_layer_freq has 2 entries"));
}

TEST(Model, ErrorsNameFileKeyValueAndFix) {
    EXPECT_THAT(
        refusal(small_moe + R"(, "n_group": 3, "topk_group": 1})"),
        AllOf(HasSubstr("config_under_test.json"), HasSubstr("n_group is 3"), HasSubstr("divide the 8 routed")));
    EXPECT_THAT(refusal(small_moe + R"(, "n_group": 8, "topk_group": 1})"), HasSubstr("hold 1 experts"));
    EXPECT_THAT(refusal(small_moe + R"(, "num_local_experts": 4})"),
                HasSubstr("num_experts is 8 but num_local_experts is 4"));
    EXPECT_THAT(refusal(R"({"num_hidden_layers": -3})"), HasSubstr("num_hidden_layers is -3"));
    EXPECT_THAT(refusal(R"({"num_hidden_layers": "many"})"), HasSubstr("num_hidden_layers is \"many\""));
    EXPECT_THAT(refusal(R"({"num_hidden_layers": 4})"), HasSubstr("hidden_size is missing"));
    EXPECT_THAT(refusal("{\n \"a\": 1,\n \"b\" 2}"), HasSubstr("config_under_test.json:3:6:"));
    EXPECT_THAT(refusal(""), HasSubstr("it is empty"));
    EXPECT_THAT(refusal("[1]"), HasSubstr("no JSON object"));
    EXPECT_THAT(test::complaint<InputError>([] { read_model_config("/nowhere/config.json"); }),
                AllOf(HasSubstr("/nowhere/config.json"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace orrery
