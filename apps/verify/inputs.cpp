// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/inputs.hpp"

#include "core/check.hpp"
#include "io/scenario/load.hpp"
#include "netmodels/topology/registry.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Unique, so that several users and processes can verify at once.
class ScratchDirectory {
  public:
    ScratchDirectory() {
        std::error_code error;
        auto const parent = fs::temp_directory_path(error);
        ORRERY_VALIDATE(!error, "no directory for temporary files ({}) set TMPDIR", error.message());
        auto name = (parent / "orrery-verify-XXXXXX").string();
        ORRERY_VALIDATE(::mkdtemp(name.data()) != nullptr, "cannot create a directory in {} ({}) set TMPDIR",
                        parent.string(), std::strerror(errno));
        path_ = name;
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchDirectory(ScratchDirectory const&) = delete;
    ScratchDirectory& operator=(ScratchDirectory const&) = delete;

    fs::path write(char const* name, std::string const& text) const {
        auto const file = path_ / name;
        std::ofstream out(file);
        out << text << std::flush;
        ORRERY_VALIDATE(out.good(), "cannot write {} (disk full?) set TMPDIR", file.string());
        return file;
    }

  private:
    fs::path path_;
};

}  // namespace

// Facts: DeepSeek-V3 technical report, arXiv:2412.19437 sec. 4.2.
std::string model_json(ModelFacts facts) {
    return fmt::format(
        R"({{"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128,
"num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
"v_head_dim": 128, "n_routed_experts": {}, "num_experts_per_tok": {}, "n_group": {}, "topk_group": {},
"topk_method": "noaux_tc", "n_shared_experts": 1, "moe_intermediate_size": 2048, "intermediate_size": 18432,
"first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1, "vocab_size": 129280}})",
        facts.experts, facts.top_k, facts.groups, facts.groups_per_token);
}

std::unique_ptr<Fabric> fabric_of(std::string const& yaml) {
    ScratchDirectory const scratch;
    scratch.write("model.json", model_json({}));  // a scenario has a workload, even where only its fabric is used
    auto const file = scratch.write("scenario.yaml", "fabric: " + yaml + "\nworkload: {model: model.json}\n");
    auto const loaded = load_scenario(file, {});
    auto fabric = make_fabric(loaded.scenario.fabric(), loaded.scenario.seed());
    fabric->degrade(degradations_of(loaded.scenario.fabric()));
    return fabric;
}

std::unique_ptr<Job> job_of(std::string const& yaml, ModelFacts facts, std::string const& loads_json) {
    ScratchDirectory const scratch;
    scratch.write("model.json", model_json(facts));
    if (!loads_json.empty()) scratch.write("loads.json", loads_json);
    return std::make_unique<Job>(load_scenario(scratch.write("scenario.yaml", yaml), {}));
}

}  // namespace orrery
