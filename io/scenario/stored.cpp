// SPDX-License-Identifier: Apache-2.0
#include "io/scenario/stored.hpp"

#include "core/check.hpp"
#include "io/scenario/schema.hpp"

#include <charconv>
#include <sstream>

namespace orrery {
namespace {

using namespace loader;

template <class Number>
Number number_of(std::string const& path, std::string const& text) {
    Number value{};
    auto const* const last = text.data() + text.size();
    auto const read = std::from_chars(text.data(), last, value);
    ORRERY_VALIDATE(read.ec == std::errc{} && read.ptr == last, "{} = {} of a timeline (not a number) is it damaged?",
                    path, text);
    return value;
}

void set_scalar(Message& message, Field const& field, std::string const& path, std::string const& text) {
    auto const& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
        case Field::CPPTYPE_STRING:
            return reflection.SetString(&message, &field, text);
        case Field::CPPTYPE_BOOL:
            return reflection.SetBool(&message, &field, text == "true");
        case Field::CPPTYPE_DOUBLE:
            return reflection.SetDouble(&message, &field, number_of<double>(path, text));
        case Field::CPPTYPE_INT64:
            return reflection.SetInt64(&message, &field, number_of<std::int64_t>(path, text));
        case Field::CPPTYPE_UINT32:
            return reflection.SetUInt32(&message, &field, number_of<std::uint32_t>(path, text));
        case Field::CPPTYPE_UINT64:
            return reflection.SetUInt64(&message, &field, number_of<std::uint64_t>(path, text));
        default:
            ORRERY_ENSURE(false, "{} has a type that no scenario has", path);
    }
}

// The group that a step of a path leads to; items of a list come in their order.
Message* group_at(Message& message, Field const& field, Step const& step) {
    auto const& reflection = *message.GetReflection();
    if (!field.is_repeated()) return reflection.MutableMessage(&message, &field);
    if (step.index < 0) return nullptr;
    while (reflection.FieldSize(message, &field) <= step.index) reflection.AddMessage(&message, &field);
    return reflection.MutableRepeatedMessage(&message, &field, step.index);
}

void set_value(scenario::Scenario& scenario, std::string const& path, std::string const& text) {
    Message* message = &scenario;
    auto const steps = split_path(path);
    for (std::size_t i = 0; i < steps.size() && message != nullptr; ++i) {
        auto const* field = message->GetDescriptor()->FindFieldByName(steps[i].name);
        bool const last = i + 1 == steps.size();
        if (field == nullptr || is_message(*field) == last) break;
        if (last) return set_scalar(*message, *field, path, text);
        message = group_at(*message, *field, steps[i]);
    }
    throw InputError(
        fmt::format("{} of a timeline (no setting of this version) use the version that wrote the timeline", path));
}

}  // namespace

std::map<std::string, std::string> stored_values(std::string const& canonical_text) {
    std::map<std::string, std::string> values;
    std::istringstream lines(canonical_text);
    std::string* last = nullptr;
    for (std::string line; std::getline(lines, line);) {
        auto const equals = line.find('=');
        bool const key = equals != std::string::npos && line.find_first_of(" \t\"") >= equals;
        if (key)
            last = &(values[line.substr(0, equals)] = line.substr(equals + 1));
        else if (last != nullptr)
            *last += '\n' + line;  // a text of several lines
    }
    return values;
}

scenario::Scenario scenario_of(std::string const& canonical_text) {
    scenario::Scenario scenario;
    for (auto const& [path, text] : stored_values(canonical_text)) set_value(scenario, path, text);
    return scenario;
}

}  // namespace orrery
