// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/chakra_trace.hpp"

#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> type_names = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                        "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                        "COMM_RECV_NODE", "COMM_COLL_NODE"};
constexpr std::array<std::string_view, 10> collective_names = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

template <std::size_t size>
std::optional<std::int64_t> number_of(std::array<std::string_view, size> const& names, std::string_view name) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return found - names.begin();
}

// What tracers and generators note for themselves.
bool is_note(std::string_view name) {
    constexpr std::array<std::string_view, 16> notes = {
        "inputs", "outputs", "op_type", "op_schema",  "rf_id",         "fw_parent",  "seq_id", "scope",
        "tid",    "fw_tid",  "stream",  "exec_order", "comm_priority", "tensor_loc", "cid",    "kernel_file"};
    return std::find(notes.begin(), notes.end(), name) != notes.end();
}

}  // namespace

std::optional<std::int64_t> chakra_type_named(std::string_view name) {
    return number_of(type_names, name);
}
std::optional<std::int64_t> chakra_collective_named(std::string_view name) {
    return number_of(collective_names, name);
}

ChakraUse set_chakra_attribute(ChakraNode& node, std::string_view name, ChakraValue const& value) {
    auto const text_as_whole = value.whole ? value.whole : whole_number(value.text);
    auto const take = [&](std::optional<std::int64_t>& field) {
        field = text_as_whole;
        return field ? ChakraUse::used : ChakraUse::unknown;
    };
    if (name == "is_cpu_op") {
        node.on_host = text_as_whole.value_or(0) != 0;
        return ChakraUse::used;
    }
    if (name == "comm_type") {
        node.comm_type = text_as_whole ? text_as_whole : chakra_collective_named(value.text);
        return node.comm_type ? ChakraUse::used : ChakraUse::unknown;
    }
    if (name == "comm_size") return take(node.comm_size);
    if (name == "comm_src") return take(node.comm_source);
    if (name == "comm_dst") return take(node.comm_target);
    if (name == "comm_tag") return take(node.tag);
    if (name == "root" || name == "root_rank") return take(node.root);
    if (name == "num_ops") return take(node.operations);
    if (name == "tensor_size") return take(node.tensor_bytes);
    if (name == "pg_name" || name == "comm_group") {
        node.group = value.whole ? fmt::format("{}", *value.whole) : value.text;
        return ChakraUse::used;
    }
    if (name == "involved_dim") {
        node.some_dimensions = !value.all_true;
        return ChakraUse::used;
    }
    return is_note(name) ? ChakraUse::known : ChakraUse::unknown;
}

}  // namespace orrery
