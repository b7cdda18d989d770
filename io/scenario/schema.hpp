// SPDX-License-Identifier: Apache-2.0
// What the descriptors and their options say about fields, and dotted paths into a scenario.
#pragma once

#include "io/scenario/quantity.hpp"
#include "proto/options.pb.h"
#include "proto/scenario.pb.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::loader {

using Field = google::protobuf::FieldDescriptor;
using Type = google::protobuf::Descriptor;
using Message = google::protobuf::Message;

// The options of a field, decoded.
struct FieldFacts {
    scenario::Unit unit = scenario::NONE;
    std::string fallback, help, source, applies_when, plane;
    std::optional<double> at_least, at_most;
    std::vector<std::string> choices;
    bool required = false;
};
FieldFacts facts_of(Field const& field);

bool is_message(Field const& field);
// The dimension of a quantity field, nothing for plain numbers, strings and paths.
std::optional<quantity::Dimension> dimension_of(Field const& field);
// "a time", "a whole number", "true or false", "a list of groups", ...
std::string kind_text(Field const& field);
std::vector<std::string> field_names(Type const& type);
// True if the scalar has a value: presence, or for a plain string being non-empty.
bool is_set(Message const& message, Field const& field);

// "a.b" + "c" -> "a.b.c"; "" + "c" -> "c".
std::string child_path(std::string_view parent, std::string_view name);
std::string item_path(std::string_view list, int index);
bool is_below(std::string_view path, std::string_view ancestor);

// One step of a path such as fabric.degrade[0].links; index -1 if there is none, -2 if the brackets are malformed.
struct Step {
    std::string name;
    int index = -1;
};
std::vector<Step> split_path(std::string_view path);

// Full paths (list indices left out) of all fields whose own name is `name`.
std::vector<std::string> paths_of_name(std::string_view name);
// What to write instead of the unknown `name` in the group at `parent`.
std::string suggest_name(Type const& type, std::string_view parent, std::string_view name);

// Calls visit(path, message, field) for every field of the message, groups first their own call, then their fields.
// Absent groups get their own call only.
using Visitor = std::function<void(std::string const& path, Message const& message, Field const& field)>;
void visit_fields(Message const& message, std::string const& prefix, Visitor const& visit);

// Calls visit(path, field) for every field of the schema; list indices are written [0].
void visit_schema(Type const& type, std::string const& prefix,
                  std::function<void(std::string const& path, Field const& field)> const& visit);

}  // namespace orrery::loader
