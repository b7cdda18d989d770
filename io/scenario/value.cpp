// SPDX-License-Identifier: Apache-2.0
// Scalars in and out of messages, through reflection.
#include "io/scenario/value.hpp"

#include "core/check.hpp"
#include "io/scenario/decimal.hpp"
#include "io/scenario/nearest.hpp"
#include "io/scenario/problems.hpp"
#include "io/scenario/text_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace orrery::loader {

namespace {

using quantity::Refusal;
using Refused = std::optional<Refusal>;

std::string example_of(Field const& field) {
    FieldFacts const facts = facts_of(field);
    if (!facts.fallback.empty()) return facts.fallback;
    return facts.at_least ? bound_text(field, *facts.at_least) : "1";
}

// long double holds every 64-bit integer on the platforms we build for, so the comparison is exact.
Refused out_of_range(Field const& field, long double value) {
    FieldFacts const facts = facts_of(field);
    bool const fraction = facts.unit == scenario::FRACTION;
    if (facts.at_least && value < static_cast<long double>(*facts.at_least)) {
        std::string const bound = bound_text(field, *facts.at_least);
        return Refusal{fmt::format("must be at least {}", bound), fmt::format("write {} or more", bound)};
    }
    if (facts.at_most && value > static_cast<long double>(*facts.at_most)) {
        std::string const bound = bound_text(field, *facts.at_most);
        std::string const reason = fmt::format("must be at most {}", bound);
        if (fraction && value <= 100)
            return Refusal{reason, fmt::format("did you mean {}%?", static_cast<double>(value))};
        return Refusal{reason, fmt::format("write {} or less", bound)};
    }
    return std::nullopt;
}

Refused assign_whole(Message& message, Field const& field, std::string_view text) {
    auto const number = quantity::read_decimal(text);
    if (!number || number->length != text.size())
        return Refusal{"not a whole number", fmt::format("write it like {}", example_of(field))};
    if (text.size() > 1 && text.find_first_not_of("0123456789") == std::string_view::npos && text[0] == '0')
        return Refusal{"leading zeros mean octal to some", "write it without"};
    auto const scaled = quantity::scale(*number, 1);
    using quantity::Rounding;
    bool const huge = number->too_many_digits || scaled.rounding == Rounding::too_large;
    if (!huge && scaled.rounding != Rounding::exact)
        return Refusal{"not a whole number", fmt::format("write {}", static_cast<std::int64_t>(scaled.value))};
    bool const is_signed = field.cpp_type() == Field::CPPTYPE_INT64;
    Int128 const most = is_signed                                   ? Int128{std::numeric_limits<std::int64_t>::max()}
                        : field.cpp_type() == Field::CPPTYPE_UINT32 ? Int128{std::numeric_limits<std::uint32_t>::max()}
                                                                    : Int128{std::numeric_limits<std::uint64_t>::max()};
    if (number->negative && number->mantissa != 0 && !is_signed)
        return Refusal{"must not be negative", fmt::format("write it like {}", example_of(field))};
    // The range of the field, where there is one, says more than the range of its type.
    FieldFacts const facts = facts_of(field);
    if (huge && facts.at_most) return out_of_range(field, std::numeric_limits<long double>::max());
    if (!huge)
        if (auto refused = out_of_range(field, static_cast<long double>(scaled.value))) return refused;
    if (huge || scaled.value > most || scaled.value < -most)
        return Refusal{"too large", fmt::format("write {} or less", static_cast<std::uint64_t>(most))};
    auto const& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
        case Field::CPPTYPE_UINT32:
            reflection.SetUInt32(&message, &field, static_cast<std::uint32_t>(scaled.value));
            break;
        case Field::CPPTYPE_UINT64:
            reflection.SetUInt64(&message, &field, static_cast<std::uint64_t>(scaled.value));
            break;
        default:
            reflection.SetInt64(&message, &field, static_cast<std::int64_t>(scaled.value));
    }
    return std::nullopt;
}

Refused assign_real(Message& message, Field const& field, std::string_view text) {
    double value = 0;
    if (auto const dimension = dimension_of(field)) {
        auto const parsed = quantity::parse_real(*dimension, text, facts_of(field).fallback);
        if (!parsed) return parsed.refusal;
        value = *parsed.value;
    } else {
        auto const number = quantity::read_decimal(text);
        if (!number || number->length != text.size() || number->too_many_digits)
            return Refusal{"not a number", fmt::format("write it like {}", example_of(field))};
        auto const read = quantity::to_double(*number, 0);
        if (!read) return Refusal{"cannot be represented", fmt::format("write it like {}", example_of(field))};
        value = *read;
    }
    if (auto refused = out_of_range(field, static_cast<long double>(value))) return refused;
    message.GetReflection()->SetDouble(&message, &field, value);
    return std::nullopt;
}

Refused assign_quantity(Message& message, Field const& field, quantity::Dimension dimension, std::string_view text) {
    auto const parsed = quantity::parse_integer(dimension, text, facts_of(field).fallback);
    if (!parsed) return parsed.refusal;
    if (auto refused = out_of_range(field, static_cast<long double>(*parsed.value))) return refused;
    message.GetReflection()->SetInt64(&message, &field, *parsed.value);
    return std::nullopt;
}

Refused assign_bool(Message& message, Field const& field, std::string_view text) {
    bool const yes = text == "true" || text == "True" || text == "TRUE";
    bool const no = text == "false" || text == "False" || text == "FALSE";
    if (!yes && !no) {
        bool const meant_yes = text == "yes" || text == "Yes" || text == "on" || text == "1";
        bool const meant_no = text == "no" || text == "No" || text == "off" || text == "0";
        return Refusal{"must be true or false", meant_yes  ? "write true"
                                                : meant_no ? "write false"
                                                           : "write true or false"};
    }
    message.GetReflection()->SetBool(&message, &field, yes);
    return std::nullopt;
}

Refused assign_string(Message& message, Field const& field, std::string_view text) {
    FieldFacts const facts = facts_of(field);
    if (text.empty())
        return Refusal{"is empty", facts.fallback.empty() ? "give a value" : "remove it to use " + facts.fallback};
    bool const control =
        std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (control || !is_utf8(text)) return Refusal{"holds control characters or is not UTF-8", "write one line of text"};
    if (!facts.choices.empty() && std::find(facts.choices.begin(), facts.choices.end(), text) == facts.choices.end()) {
        std::string const near = nearest_name(text, facts.choices);
        return Refusal{fmt::format("must be one of {}", join(facts.choices, ", ")),
                       near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near)};
    }
    message.GetReflection()->SetString(&message, &field, std::string(text));
    return std::nullopt;
}

}  // namespace

Refused assign(Message& message, Field const& field, std::string_view text) {
    switch (field.cpp_type()) {
        case Field::CPPTYPE_STRING:
            return assign_string(message, field, text);
        case Field::CPPTYPE_BOOL:
            return assign_bool(message, field, text);
        case Field::CPPTYPE_DOUBLE:
            return assign_real(message, field, text);
        case Field::CPPTYPE_INT64:
            if (auto const dimension = dimension_of(field)) return assign_quantity(message, field, *dimension, text);
            return assign_whole(message, field, text);
        case Field::CPPTYPE_UINT32:
        case Field::CPPTYPE_UINT64:
            return assign_whole(message, field, text);
        default:
            break;
    }
    ORRERY_ENSURE(false, "{} has a type the loader does not know", field.full_name());
    return std::nullopt;
}

std::string stored_text(Message const& message, Field const& field) {
    auto const& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
        case Field::CPPTYPE_STRING:
            return reflection.GetString(message, &field);
        case Field::CPPTYPE_BOOL:
            return reflection.GetBool(message, &field) ? "true" : "false";
        case Field::CPPTYPE_DOUBLE:
            return fmt::format("{}", reflection.GetDouble(message, &field));
        case Field::CPPTYPE_INT64:
            return fmt::format("{}", reflection.GetInt64(message, &field));
        case Field::CPPTYPE_UINT32:
            return fmt::format("{}", reflection.GetUInt32(message, &field));
        case Field::CPPTYPE_UINT64:
            return fmt::format("{}", reflection.GetUInt64(message, &field));
        default:
            break;
    }
    ORRERY_ENSURE(false, "{} has a type the loader does not know", field.full_name());
    return {};
}

std::string user_text(Message const& message, Field const& field) {
    auto const dimension = dimension_of(field);
    if (!dimension) return stored_text(message, field);
    std::string const like = facts_of(field).fallback;
    auto const& reflection = *message.GetReflection();
    return field.cpp_type() == Field::CPPTYPE_DOUBLE
               ? quantity::print(*dimension, reflection.GetDouble(message, &field), like)
               : quantity::print(*dimension, reflection.GetInt64(message, &field), like);
}

std::string bound_text(Field const& field, double bound) {
    auto const dimension = dimension_of(field);
    std::string const like = facts_of(field).fallback;
    if (!dimension)
        return bound < 1e15 && bound == static_cast<double>(static_cast<std::int64_t>(bound))
                   ? fmt::format("{}", static_cast<std::int64_t>(bound))
                   : fmt::format("{}", bound);
    return field.cpp_type() == Field::CPPTYPE_DOUBLE
               ? quantity::print(*dimension, bound, like)
               : quantity::print(*dimension, static_cast<std::int64_t>(bound), like);
}

std::string range_text(Field const& field) {
    FieldFacts const facts = facts_of(field);
    if (facts.at_least && facts.at_most)
        return fmt::format("{} to {}", bound_text(field, *facts.at_least), bound_text(field, *facts.at_most));
    if (facts.at_least) return fmt::format("at least {}", bound_text(field, *facts.at_least));
    if (facts.at_most) return fmt::format("at most {}", bound_text(field, *facts.at_most));
    return {};
}

}  // namespace orrery::loader
