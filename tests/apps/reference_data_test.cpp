// SPDX-License-Identifier: Apache-2.0
// Real inputs: a published config.json and a recorded routing trace. Skipped where the data are absent.
#include "tests/apps/apps_testing.hpp"
#include "tests/workloads/shared_data.hpp"

namespace orrery::testing {
namespace {

fs::path find_file(fs::path const& below, auto const& wanted) {
    std::vector<fs::path> found;
    for (auto const& entry : fs::recursive_directory_iterator(below))
        if (entry.is_regular_file() && wanted(entry.path())) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found.empty() ? fs::path{} : found.front();
}

TEST(ReferenceData, ThePublishedConfigIsTheShippedModel) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const config = find_file(test::shared_data() / "model_configs", [](fs::path const& path) {
        return path.filename().string().ends_with("DeepSeek-R1.json");
    });
    if (config.empty()) GTEST_SKIP() << "no config.json of DeepSeek-R1 in the reference data";
    std::vector<std::string> const sets{"workload.moe_layers=2", "network.flow.error=1%"};
    auto const shipped_model = Simulated(shipped("cloudmatrix384_decode"), sets);
    auto with_config = sets;
    with_config.push_back("workload.model=" + config.string());
    EXPECT_EQ(Simulated(shipped("cloudmatrix384_decode"), with_config).digest(), shipped_model.digest());
}

TEST(ReferenceData, ARecordedRoutingTraceDrivesARun) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const trace = find_file(test::shared_data() / "realfiles/moe_routing",
                                 [](fs::path const& path) { return path.extension() == ".jsonl"; });
    if (trace.empty()) GTEST_SKIP() << "no routing trace in the reference data";
    TinyDirectory const directory;
    // The traced model: 24 layers, all MoE, 32 experts of which 8 active.
    directory.write("granite.json", R"({
      "model_type": "granitemoe", "architectures": ["GraniteMoeForCausalLM"], "num_hidden_layers": 24,
      "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 8, "num_local_experts": 32,
      "num_experts_per_tok": 8, "intermediate_size": 512, "vocab_size": 49155})");
    std::vector<std::string> const sets{"workload.model=" + (directory.path() / "granite.json").string(),
                                        "workload.routing.source=trace", "workload.routing.file=" + trace.string()};
    auto const job = make_job(directory.scenario, sets);
    Simulated const run(job);
    EXPECT_EQ(run.share.unfinished_ranks, 0);
    EXPECT_EQ(run.share.transfers.delivered_bytes, run.share.transfers.injected_bytes);
    std::int64_t tokens = 0;
    std::set<std::uint16_t> layers;
    for (auto const& row : run.rows.loads) {
        tokens += row.tokens;
        layers.insert(row.layer);
    }
    EXPECT_EQ(layers.size(), 24U);
    EXPECT_EQ(tokens, 24 * 8 * 8 * 24);  // layers, ranks, top-8, tokens per rank
    EXPECT_NE(run.digest(), Simulated(directory.scenario, {sets[0]}).digest());
}

}  // namespace
}  // namespace orrery::testing
