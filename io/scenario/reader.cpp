// SPDX-License-Identifier: Apache-2.0
// YAML nodes into fields. Depth is bounded by the schema: what is unknown is not descended into.
#include "io/scenario/reader.hpp"

#include "io/scenario/value.hpp"

#include <fmt/format.h>

namespace orrery::loader {

namespace {

std::string node_text(Node const& node) {
    switch (node.kind) {
        case NodeKind::nothing:
            return "nothing";
        case NodeKind::list:
            return "a list";
        case NodeKind::map:
            return "a group of keys";
        case NodeKind::scalar:
            return shown(node.text);
    }
    return "nothing";
}

}  // namespace

Place Draft::place_of_group(std::string path) const {
    for (;;) {
        if (auto const found = groups.find(path); found != groups.end()) return found->second;
        auto const dot = path.rfind('.');
        if (dot == std::string::npos) return {file, {}};
        path.resize(dot);
    }
}

void forget_below(Draft& draft, std::string const& path) {
    std::erase_if(draft.origin, [&](auto const& entry) { return is_below(entry.first, path); });
    std::erase_if(draft.groups, [&](auto const& entry) { return is_below(entry.first, path); });
}

void Reader::refuse(Mark mark, std::string const& path, std::string const& what) {
    draft_.failed.insert(path);
    draft_.problems.add(place(mark), what);
}

void Reader::read_group(Node const& node, Message& message, std::string const& path) {
    auto const& type = *message.GetDescriptor();
    for (Entry const& entry : node.entries) {
        Field const* field = type.FindFieldByName(entry.key);
        std::string const entry_path = child_path(path, entry.key);
        if (field == nullptr) {
            if (draft_.problems.full()) return;  // a suggestion costs a search
            draft_.problems.add(place(entry.mark),
                                fmt::format("{} is unknown ({} has no such key) {}", shown(entry_path),
                                            path.empty() ? "a scenario" : path, suggest_name(type, path, entry.key)));
            continue;
        }
        read_field(document_[entry.node], entry.mark, message, *field, entry_path);
    }
}

void Reader::read_field(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path) {
    auto const& reflection = *message.GetReflection();
    if (field.is_repeated()) return read_list(node, mark, message, field, path);
    if (!is_message(field)) return read_scalar(node, mark, message, field, path);
    // "device:" with everything below commented out is an empty group.
    if (node.kind != NodeKind::map && node.kind != NodeKind::nothing)
        return refuse(node.mark, path,
                      fmt::format("{} = {} (must be a group of keys) known there: {}", path, node_text(node),
                                  join(field_names(*field.message_type()), ", ")));
    draft_.groups[path] = place(mark);
    read_group(node, *reflection.MutableMessage(&message, &field), path);
}

void Reader::read_list(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path) {
    if (node.kind == NodeKind::nothing) return;
    if (node.kind != NodeKind::list)
        return refuse(node.mark, path,
                      fmt::format("{} = {} (must be a list) write each item after a dash", path, node_text(node)));
    draft_.groups[path] = place(mark);
    for (std::uint32_t const index : node.items) {
        Node const& item = document_[index];
        std::string const at = item_path(path, message.GetReflection()->FieldSize(message, &field));
        Message& added = *message.GetReflection()->AddMessage(&message, &field);
        if (item.kind != NodeKind::map) {
            refuse(item.mark, at,
                   fmt::format("{} = {} (must be a group of keys) known there: {}", at, node_text(item),
                               join(field_names(*field.message_type()), ", ")));
            continue;
        }
        draft_.groups[at] = place(item.mark);
        read_group(item, added, at);
    }
}

void Reader::read_scalar(Node const& node, Mark mark, Message& message, Field const& field, std::string const& path) {
    // The parser places an absent value at whatever comes next, so point at the key.
    if (node.kind == NodeKind::nothing)
        return refuse(
            mark, path,
            fmt::format("{} has no value ({} is expected) give one or remove the key", path, kind_text(field)));
    if (node.kind != NodeKind::scalar)
        return refuse(node.mark, path,
                      fmt::format("{} = {} (must be {}) give one value", path, node_text(node), kind_text(field)));
    if (auto const refused = assign(message, field, node.text)) {
        draft_.failed.insert(path);
        draft_.problems.refuse(place(node.mark), path, node.text, *refused);
        return;
    }
    draft_.origin[path] = place(node.mark);
}

}  // namespace orrery::loader
