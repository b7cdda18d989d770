// SPDX-License-Identifier: Apache-2.0
// A scenario that is little work and many rows: 512 ranks in groups of four, priced by the analytic model.
#pragma once

#include "tests/apps/apps_testing.hpp"

#include <numeric>

namespace orrery::testing {

// A directory with many.yaml in it: `moe_layers` MoE layers after `dense_layers` dense ones. A MoE layer is 2,560
// operations and about as many link bins; a dense one is 1,024 operations.
class ManyRows : public TempDirectory {
  public:
    explicit ManyRows(int moe_layers = 100, int dense_layers = 1) {
        std::vector<int> dense(static_cast<std::size_t>(dense_layers));
        std::iota(dense.begin(), dense.end(), 0);
        write("model.json", fmt::format(R"({{"model_type": "qwen3_moe", "num_hidden_layers": {}, "hidden_size": 1024,
            "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 64, "num_experts": 32,
            "num_experts_per_tok": 1, "moe_intermediate_size": 512, "intermediate_size": 2048,
            "decoder_sparse_step": 1, "mlp_only_layers": [{}], "vocab_size": 32000}})",
                                        moe_layers + dense_layers, fmt::join(dense, ", ")));
        write("many.yaml",
              "name: many rows\n"
              "fabric: {kind: single_switch, single_switch: {hosts: 512}}\n"
              "workload: {model: model.json, batch_per_rank: 4, context: 1024, ep: 4, ep_groups: 128}\n"
              "network: {model: analytic}\n"
              "output: {link_bin: 1us}\n");
    }
};

}  // namespace orrery::testing
