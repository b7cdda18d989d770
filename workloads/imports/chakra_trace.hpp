// SPDX-License-Identifier: Apache-2.0
// A Chakra execution trace of one rank as it stands in its file.
#pragma once

#include "workloads/imports/findings.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

enum class ChakraType : std::uint8_t {
    invalid = 0,
    metadata = 1,
    memory_load = 2,
    memory_store = 3,
    compute = 4,
    send = 5,
    receive = 6,
    collective = 7,
};

// Attributes that mean something here; empty where the node has none of that name.
struct ChakraNode {
    std::uint64_t id = 0;
    std::string name;
    ChakraType type{};
    std::vector<std::uint64_t> data_deps, control_deps;
    std::int64_t duration_us = 0;
    bool on_host = false;                              // is_cpu_op
    std::optional<std::int64_t> comm_type, comm_size;  // CollectiveCommType; bytes
    std::optional<std::int64_t> comm_source, comm_target, tag, root;
    std::optional<std::int64_t> operations, tensor_bytes;  // num_ops, tensor_size
    std::string group;                                     // pg_name or comm_group
    bool some_dimensions = false;                          // involved_dim leaves some out
};

struct ChakraTrace {
    std::string file;
    std::string version;
    std::vector<ChakraNode> nodes;
    FilePlace place(ChakraNode const& node) const { return {file, node.id, FilePlace::Unit::node}; }
};

// Length-delimited Protobuf. Types of attributes are taken as they come; fields beyond schema 0.0.4 and attributes
// without a meaning here are counted as ignored.
ChakraTrace read_chakra_protobuf(std::filesystem::path const& path, Findings& findings);
// The same as JSON: {"nodes": [...]} with the names of the schema, or chakra_converter's {"workload_graph": [...]}.
ChakraTrace read_chakra_json(std::filesystem::path const& path, Findings& findings);

// Numbers of node and collective types by the schema's names ("COMP_NODE", "ALL_REDUCE"); empty: unknown.
std::optional<std::int64_t> chakra_type_named(std::string_view name);
std::optional<std::int64_t> chakra_collective_named(std::string_view name);

// An attribute of the schema in whatever type it came, and where it belongs in the node.
struct ChakraValue {
    std::optional<std::int64_t> whole;
    std::string text;
    bool all_true = true;  // of a list of booleans
};
enum class ChakraUse : std::uint8_t { used, known, unknown };
// known: it is in use and changes no schedule (shapes, ids of the tracer).
ChakraUse set_chakra_attribute(ChakraNode& node, std::string_view name, ChakraValue const& value);

}  // namespace orrery
