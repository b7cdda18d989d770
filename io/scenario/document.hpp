// SPDX-License-Identifier: Apache-2.0
// A YAML text as a plain tree that keeps positions, duplicate keys and quoting. Only document.cpp knows yaml-cpp.
#pragma once

#include "io/scenario/problems.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery::loader {

enum class NodeKind { nothing, scalar, list, map };

struct Entry {
    std::string key;
    Mark mark;               // of the key
    std::uint32_t node = 0;  // index of the value
};

struct Node {
    NodeKind kind = NodeKind::nothing;
    Mark mark;
    std::string text;                  // of a scalar
    std::vector<std::uint32_t> items;  // of a list
    std::vector<Entry> entries;        // of a map, duplicates refused, merge keys (<<) applied
};

// Nodes refer to each other by index; an alias is the index of its anchor, so the tree stays as small as the text.
struct Document {
    std::vector<Node> nodes;
    std::uint32_t root = 0;
    Node const& operator[](std::uint32_t index) const { return nodes[index]; }
};

// Adds to the problems and returns nothing if the text is not one YAML document. `source` names it in messages;
// with Positions::none (a --set argument) messages carry no line.
enum class Positions { shown, none };
std::optional<Document> parse_document(std::string const& text, std::string const& source, Positions, Problems&);

}  // namespace orrery::loader
