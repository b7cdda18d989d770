// SPDX-License-Identifier: Apache-2.0
// Expert loads per layer from a JSON or CSV file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace orrery {

struct ExpertLoads {
    std::vector<std::vector<std::uint64_t>> of_layer;  // [layer][expert], at most 2^40 each
    std::vector<std::string> warnings;
};

// JSON: {"weight": [[load, ...], ...]} or [[load, ...], ...], one list per MoE layer. CSV: a header with the columns
// layer, expert and load (also count, tokens or weight), or no header and one row of loads per layer. Loads are
// non-negative numbers; fractions are scaled to integers. Every layer must have `experts` loads, at least `top_k` of
// them positive. Errors name the layer and expert, or the line.
ExpertLoads read_expert_loads(std::filesystem::path const& path, std::uint32_t experts, std::uint32_t top_k);

}  // namespace orrery
