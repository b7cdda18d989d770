// SPDX-License-Identifier: Apache-2.0
// Chakra traces as JSON: the schema's own names, or those of chakra's JSON feeder.
#include "workloads/imports/chakra_trace.hpp"
#include "workloads/models/json_file.hpp"

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using Json = nlohmann::json;

class JsonReader {
  public:
    JsonReader(std::filesystem::path const& path, Findings& findings) : findings_(findings) {
        trace_.file = path.string();
        document_ = parse_json_file(path, "Chakra trace");
    }

    ChakraTrace read() {
        auto const list = document_.contains("nodes") ? document_["nodes"] : document_["workload_graph"];
        ORRERY_VALIDATE(list.is_array(), "{}: nodes is no list (one entry per node) correct it", trace_.file);
        for (auto const& entry : list) take(entry);
        return std::move(trace_);
    }

  private:
    void take(Json const& entry) {
        ORRERY_VALIDATE(entry.is_object(),
                        "{}: entry {} of nodes is no object (a node has an id and a type) correct it", trace_.file,
                        trace_.nodes.size());
        ChakraNode node;
        for (auto const& [key, value] : entry.items())
            if (key == "id" || key == "Id") {
                ORRERY_VALIDATE(value.is_number_unsigned(), "{}: the id of entry {} is {} (a number from 0) correct it",
                                trace_.file, trace_.nodes.size(), value.dump());
                node.id = value.get<std::uint64_t>();
            }
        for (auto const& [key, value] : entry.items()) field(node, key, value);
        trace_.nodes.push_back(std::move(node));
    }

    void field(ChakraNode& node, std::string const& key, Json const& value) {
        auto const place = FilePlace{trace_.file, node.id, FilePlace::Unit::node};
        if (key == "id" || key == "Id") return;
        if (key == "name" || key == "Name") {
            if (value.is_string()) node.name = value.get<std::string>();
        } else if (key == "type" || key == "NodeType") {
            auto const number = value.is_string()           ? chakra_type_named(value.get<std::string>())
                                : value.is_number_integer() ? std::optional(value.get<std::int64_t>())
                                                            : std::nullopt;
            if (number && *number >= 0 && *number <= static_cast<int>(ChakraType::collective))
                node.type = static_cast<ChakraType>(*number);
            else
                findings_.mend(place, fmt::format("the node is of type {}", value.dump()),
                               "(schema 0.0.4 has eight, from INVALID_NODE to COMM_COLL_NODE) correct it",
                               "it takes no time");
        } else if (key == "data_deps" || key == "dataDeps") {
            node.data_deps = ids(place, key, value);
        } else if (key == "ctrl_deps" || key == "ctrlDeps") {
            node.control_deps = ids(place, key, value);
        } else if (key == "duration_micros" || key == "runtime") {
            if (value.is_number_unsigned() && value.get<std::uint64_t>() < 9'000'000'000'000)
                node.duration_us = value.get<std::int64_t>();
            else
                findings_.refuse(place, fmt::format("{} is {}", key, value.dump()), "(microseconds from 0) correct it");
        } else if (use(node, key, value) == ChakraUse::unknown) {
            findings_.ignores(fmt::format("attribute {}", key), place);
        }
    }

    static ChakraUse use(ChakraNode& node, std::string const& key, Json const& value) {
        ChakraValue plain;
        if (value.is_boolean()) plain.whole = value.get<bool>() ? 1 : 0;
        if (value.is_number_integer()) plain.whole = value.get<std::int64_t>();
        if (value.is_string()) plain.text = value.get<std::string>();
        if (value.is_array())
            for (auto const& one : value) plain.all_true = plain.all_true && one == true;
        return set_chakra_attribute(node, key, plain);
    }

    std::vector<std::uint64_t> ids(FilePlace const& place, std::string const& key, Json const& value) {
        std::vector<std::uint64_t> result;
        for (auto const& one : value)
            if (one.is_number_unsigned())
                result.push_back(one.get<std::uint64_t>());
            else
                findings_.refuse(place, fmt::format("{} holds {}", key, one.dump()), "(ids of nodes) correct it");
        return result;
    }

    Findings& findings_;
    Json document_;
    ChakraTrace trace_;
};

}  // namespace

ChakraTrace read_chakra_json(std::filesystem::path const& path, Findings& findings) {
    return JsonReader(path, findings).read();
}

}  // namespace orrery
