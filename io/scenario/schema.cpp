// SPDX-License-Identifier: Apache-2.0
// Reflection helpers over the scenario's descriptors.
#include "io/scenario/schema.hpp"

#include "core/check.hpp"
#include "io/scenario/nearest.hpp"
#include "io/scenario/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::loader {

FieldFacts facts_of(Field const& field) {
    auto const& options = field.options();
    FieldFacts facts;
    facts.unit = options.GetExtension(scenario::unit);
    facts.fallback = options.GetExtension(scenario::fallback);
    facts.help = options.GetExtension(scenario::help);
    facts.source = options.GetExtension(scenario::source);
    facts.applies_when = options.GetExtension(scenario::applies_when);
    facts.plane = options.GetExtension(scenario::plane);
    facts.required = options.GetExtension(scenario::required);
    if (options.HasExtension(scenario::at_least)) facts.at_least = options.GetExtension(scenario::at_least);
    if (options.HasExtension(scenario::at_most)) facts.at_most = options.GetExtension(scenario::at_most);
    std::string const& choices = options.GetExtension(scenario::choices);
    for (std::size_t start = 0; start < choices.size();) {
        std::size_t const end = std::min(choices.find('|', start), choices.size());
        facts.choices.push_back(choices.substr(start, end - start));
        start = end + 1;
    }
    return facts;
}

bool is_message(Field const& field) {
    return field.cpp_type() == Field::CPPTYPE_MESSAGE;
}

std::optional<quantity::Dimension> dimension_of(Field const& field) {
    switch (field.options().GetExtension(scenario::unit)) {
        case scenario::TIME_PS:
            return quantity::Dimension::time;
        case scenario::RATE_BPS:
            return quantity::Dimension::rate;
        case scenario::SIZE_BYTES:
            return quantity::Dimension::size;
        case scenario::FLOPS:
            return quantity::Dimension::flops;
        case scenario::FRACTION:
            return quantity::Dimension::fraction;
        default:
            return std::nullopt;
    }
}

std::string kind_text(Field const& field) {
    if (field.is_repeated()) return "a list of groups of keys";
    if (is_message(field)) return "a group of keys";
    if (auto const dimension = dimension_of(field)) {
        switch (*dimension) {
            case quantity::Dimension::time:
                return "a time";
            case quantity::Dimension::rate:
                return "a rate";
            case quantity::Dimension::size:
                return "a size";
            case quantity::Dimension::flops:
                return "an operation rate";
            case quantity::Dimension::fraction:
                return "a fraction";
        }
    }
    switch (field.cpp_type()) {
        case Field::CPPTYPE_BOOL:
            return "true or false";
        case Field::CPPTYPE_STRING:
            return field.options().GetExtension(scenario::unit) == scenario::PATH ? "a file" : "a text";
        case Field::CPPTYPE_DOUBLE:
            return "a number";
        default:
            return "a whole number";
    }
}

std::vector<std::string> field_names(Type const& type) {
    std::vector<std::string> names;
    for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
    return names;
}

bool is_set(Message const& message, Field const& field) {
    auto const& reflection = *message.GetReflection();
    if (field.has_presence()) return reflection.HasField(message, &field);
    ORRERY_ENSURE(field.cpp_type() == Field::CPPTYPE_STRING, "{} has no presence: make it optional", field.full_name());
    return !reflection.GetString(message, &field).empty();
}

std::string child_path(std::string_view parent, std::string_view name) {
    return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

std::string item_path(std::string_view list, int index) {
    return fmt::format("{}[{}]", list, index);
}

bool is_below(std::string_view path, std::string_view ancestor) {
    return path.starts_with(ancestor) && path.size() > ancestor.size() &&
           (path[ancestor.size()] == '.' || path[ancestor.size()] == '[');
}

std::vector<Step> split_path(std::string_view path) {
    std::vector<Step> steps;
    for (std::size_t start = 0; start <= path.size();) {
        std::size_t const end = std::min(path.find('.', start), path.size());
        std::string_view part = path.substr(start, end - start);
        Step step{std::string(part), -1};
        if (auto const bracket = part.find('['); bracket != std::string_view::npos) {
            step.name = std::string(part.substr(0, bracket));
            std::string_view const digits = part.substr(bracket + 1);
            char const* const last = digits.data() + digits.size();
            unsigned index = 0;
            auto const read = std::from_chars(digits.data(), last, index);
            bool const good = read.ec == std::errc{} && read.ptr + 1 == last && *read.ptr == ']' && index < 1'000'000;
            step.index = good ? static_cast<int>(index) : -2;
        }
        steps.push_back(step);
        start = end + 1;
    }
    return steps;
}

std::vector<std::string> paths_of_name(std::string_view name) {
    std::vector<std::string> paths;
    visit_schema(*scenario::Scenario::descriptor(), "", [&](std::string const& path, Field const& field) {
        if (field.name() == name) paths.push_back(path);
    });
    return paths;
}

std::string suggest_name(Type const& type, std::string_view parent, std::string_view name) {
    std::vector<std::string> const names = field_names(type);
    if (std::string const near = nearest_name(name, names); !near.empty())
        return fmt::format("did you mean {}?", child_path(parent, near));
    std::vector<std::string> const elsewhere = paths_of_name(name);
    if (!elsewhere.empty() && elsewhere.size() <= 3) return fmt::format("did you mean {}?", join(elsewhere, " or "));
    return fmt::format("known here: {}", join(names, ", "));
}

void visit_fields(Message const& message, std::string const& prefix, Visitor const& visit) {
    auto const& type = *message.GetDescriptor();
    auto const& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
        Field const& field = *type.field(i);
        std::string const path = child_path(prefix, field.name());
        visit(path, message, field);
        if (field.is_repeated()) {
            for (int k = 0; k < reflection.FieldSize(message, &field); ++k)
                visit_fields(reflection.GetRepeatedMessage(message, &field, k), item_path(path, k), visit);
        } else if (is_message(field) && reflection.HasField(message, &field)) {
            visit_fields(reflection.GetMessage(message, &field), path, visit);
        }
    }
}

void visit_schema(Type const& type, std::string const& prefix,
                  std::function<void(std::string const& path, Field const& field)> const& visit) {
    for (int i = 0; i < type.field_count(); ++i) {
        Field const& field = *type.field(i);
        std::string const path = child_path(prefix, field.name());
        visit(path, field);
        if (is_message(field))
            visit_schema(*field.message_type(), field.is_repeated() ? item_path(path, 0) : path, visit);
    }
}

}  // namespace orrery::loader
