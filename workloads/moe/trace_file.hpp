// SPDX-License-Identifier: Apache-2.0
// A routing trace in SGLang's JSON-lines layout, read line by line into two bytes per choice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace orrery {

// The experts that recorded tokens chose: [token][layer][k].
struct RoutingTrace {
    std::string model;  // as the file names it; may be empty
    std::uint32_t experts = 0;
    std::uint32_t top_k = 0;
    std::uint32_t layers = 0;
    std::uint64_t tokens = 0;
    std::vector<std::uint16_t> choices;
    std::vector<std::string> warnings;

    std::span<std::uint16_t const> row(std::uint64_t token, std::uint32_t layer) const {
        return {choices.data() + (token * layers + layer) * top_k, top_k};
    }
};

// What the header must say; checked before the rows are read.
struct TraceShape {
    std::uint32_t experts = 0;
    std::uint32_t top_k = 0;
};

// Layout: a header row whose provenance (or itself) has expert_count, top_k and moe_layer_indices; then one row per
// token with routing: [{layer_index, expert_ids}, ...], every layer once. Rows without `routing` are skipped; a footer
// with dispatch counts must agree. Reading stops at `most_bytes` of choices, with a warning. Errors name the line.
RoutingTrace read_routing_trace(std::filesystem::path const& path, TraceShape expected,
                                std::uint64_t most_bytes = std::uint64_t{256} << 20);

}  // namespace orrery
