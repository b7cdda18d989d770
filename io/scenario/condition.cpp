// SPDX-License-Identifier: Apache-2.0
// Evaluation of applies_when.
#include "io/scenario/condition.hpp"

#include "core/check.hpp"
#include "io/scenario/problems.hpp"
#include "io/scenario/value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::loader {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t start = 0; start <= text.size();) {
        std::size_t const end = std::min(text.find(separator, start), text.size());
        std::string_view part = text.substr(start, end - start);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        parts.push_back(part);
        start = end + 1;
    }
    return parts;
}

std::string failing_clause(Message const& root, std::string_view condition) {
    for (Clause const& clause : parse_condition(condition)) {
        std::string const value = value_at(root, clause.path);
        if (std::find(clause.values.begin(), clause.values.end(), value) == clause.values.end())
            return fmt::format("{} is {}, not {}", clause.path, value.empty() ? "not set" : shown(value),
                               join(clause.values, " or "));
    }
    return {};
}

}  // namespace

std::vector<Clause> parse_condition(std::string_view text) {
    std::vector<Clause> clauses;
    if (text.empty()) return clauses;
    for (std::string_view const part : split(text, '&')) {
        auto const sides = split(part, '=');
        ORRERY_ENSURE(sides.size() == 2, "applies_when \"{}\" is not path=value|value & ...", text);
        Clause clause{std::string(sides[0]), {}};
        for (std::string_view const value : split(sides[1], '|')) clause.values.emplace_back(value);
        clauses.push_back(std::move(clause));
    }
    return clauses;
}

std::string value_at(Message const& root, std::string_view path) {
    Message const* message = &root;
    for (Step const& step : split_path(path)) {
        Field const* field = message->GetDescriptor()->FindFieldByName(step.name);
        ORRERY_ENSURE(field != nullptr && !field->is_repeated(), "no single field {}", path);
        if (!is_message(*field)) return is_set(*message, *field) ? stored_text(*message, *field) : std::string{};
        if (!message->GetReflection()->HasField(*message, field)) return {};
        message = &message->GetReflection()->GetMessage(*message, field);
    }
    return {};
}

std::string why_idle(Message const& root, std::string_view path) {
    Type const* type = root.GetDescriptor();
    for (Step const& step : split_path(path)) {
        Field const* field = type->FindFieldByName(step.name);
        ORRERY_ENSURE(field != nullptr, "no field {}", path);
        if (std::string reason = failing_clause(root, field->options().GetExtension(scenario::applies_when));
            !reason.empty())
            return reason;
        if (!is_message(*field)) break;
        type = field->message_type();
    }
    return {};
}

}  // namespace orrery::loader
