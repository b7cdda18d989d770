// SPDX-License-Identifier: Apache-2.0
// Parsing and printing of numbers with units.
#include "io/scenario/quantity.hpp"

#include "core/check.hpp"
#include "io/scenario/decimal.hpp"
#include "io/scenario/quantity_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace orrery::quantity {

namespace {

constexpr std::size_t longest_text = 64;

struct Split {
    Decimal number;
    std::string_view digits;
    UnitName const* unit = nullptr;
};

// The unit of the text to imitate: "ns" of "150ns".
std::string_view unit_of(Dimension dimension, std::string_view like) {
    if (like.empty()) like = example(dimension);
    auto const number = read_decimal(like);
    return number ? like.substr(number->length) : std::string_view{};
}

Refusal unknown_unit(Dimension dimension, std::string_view digits, std::string_view unit, std::string_view model) {
    std::string const write_model = fmt::format("write it like {}", model);
    if (unit.empty()) return {"has no unit", fmt::format("write {}{}", digits, unit_of(dimension, model))};
    if (UnitName const* other = find_unit_elsewhere(dimension, unit))
        return {fmt::format("{} is the unit of {}, not of {}", unit, noun(other->dimension), noun(dimension)),
                write_model};
    if (unit == "KB" || unit == "KB/s" || unit == "K") {
        std::string_view const per = dimension == Dimension::rate ? "/s" : "";
        if (dimension == Dimension::size || dimension == Dimension::rate)
            return {fmt::format("{} is ambiguous: 1000 or 1024 bytes", unit),
                    fmt::format("write {0}kB{1} or {0}KiB{1}", digits, per)};
    }
    if (UnitName const* near = nearest_unit(dimension, unit))
        return {fmt::format("unknown unit {}", unit), fmt::format("did you mean {}{}?", digits, near->name)};
    std::string known;
    for (UnitName const& u : units())
        if (u.dimension == dimension) known += (known.empty() ? "" : ", ") + std::string(u.name);
    return {fmt::format("unknown unit {}", unit), fmt::format("units of {}: {}", noun(dimension), known)};
}

Parsed<Split> split(Dimension dimension, std::string_view text, std::string_view like) {
    std::string_view const model = like.empty() ? example(dimension) : like;
    std::string const write_model = fmt::format("write it like {}", model);
    auto const number = read_decimal(text);
    if (text.size() > longest_text || !number) return Refusal{fmt::format("not {}", noun(dimension)), write_model};
    if (number->too_many_digits) return Refusal{"more than 22 digits", write_model};
    std::string_view const digits = text.substr(0, number->length);
    std::string_view unit = text.substr(number->length);
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    UnitName const* found = find_unit(dimension, unit);
    if (found == nullptr) return unknown_unit(dimension, digits, unit, model);
    return Split{*number, digits, found};
}

// value / unit as an exact decimal text, or empty if it has more than 15 decimals.
std::string exact_quotient(std::uint64_t value, UnitName const& unit) {
    std::string text = fmt::format("{}", value / unit.factor);
    UInt128 rest = value % unit.factor;
    if (rest == 0) return text;
    text += '.';
    for (int decimals = 0; rest != 0; ++decimals) {
        if (decimals == 15) return {};
        rest *= 10;
        text += static_cast<char>('0' + static_cast<int>(rest / unit.factor));
        rest %= unit.factor;
    }
    return text;
}

// True if the family is not the one of the text to imitate (bits against bytes, FLOPS against OPS).
bool other_family(Dimension dimension, UnitName const& unit, std::string_view like) {
    if (like.empty()) return false;
    UnitName const* wanted = find_unit(dimension, unit_of(dimension, like));
    return wanted != nullptr && wanted->family != unit.family;
}

// Shorter wins; then the one without decimals; then the larger unit (which comes later).
bool better(std::string const& text, std::string const& best) {
    if (best.empty() || text.size() != best.size()) return best.empty() || text.size() < best.size();
    auto const has_point = [](std::string const& s) { return s.find('.') != std::string::npos; };
    return !has_point(text) || has_point(best);
}

// digits * 10^exponent without an exponent, or empty if that takes many zeros.
std::string plain_decimal(std::string const& digits, int exponent) {
    int const size = static_cast<int>(digits.size());
    if (exponent > 6 || size + exponent < -6) return {};
    if (exponent >= 0) return digits + std::string(static_cast<std::size_t>(exponent), '0');
    int const point = size + exponent;
    if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    return digits.substr(0, static_cast<std::size_t>(point)) + "." + digits.substr(static_cast<std::size_t>(point));
}

}  // namespace

Parsed<std::int64_t> parse_integer(Dimension dimension, std::string_view text, std::string_view like) {
    auto const parts = split(dimension, text, like);
    if (!parts) return parts.refusal;
    Scaled const scaled = scale(parts.value->number, parts.value->unit->factor);
    std::string_view const smallest = dimension == Dimension::time   ? "1ps"
                                      : dimension == Dimension::rate ? "1b/s"
                                                                     : "1B";
    if (scaled.rounding == Rounding::vanishes)
        return Refusal{"rounds to zero", fmt::format("the smallest value is {}", smallest)};
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    if (scaled.rounding == Rounding::too_large || scaled.value > largest || scaled.value < -Int128{largest})
        return Refusal{"too large", fmt::format("the largest value is {}", print(dimension, largest))};
    return static_cast<std::int64_t>(scaled.value);
}

Parsed<double> parse_real(Dimension dimension, std::string_view text, std::string_view like) {
    auto const parts = split(dimension, text, like);
    if (!parts) return parts.refusal;
    auto const value = to_double(parts.value->number, parts.value->unit->exponent);
    if (!value) return Refusal{"cannot be represented", fmt::format("write it like {}", example(dimension))};
    return *value;
}

std::string print(Dimension dimension, std::int64_t value, std::string_view like) {
    std::uint64_t const magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    std::string best;
    for (UnitName const& unit : units()) {
        // Binary rates are read but not printed: 1GiB/s in a table of GB/s would be misread.
        if (unit.dimension != dimension || other_family(dimension, unit, like)) continue;
        if (unit.base == Base::binary && dimension == Dimension::rate) continue;
        std::string const number = exact_quotient(magnitude, unit);
        if (number.empty()) continue;
        std::string const text = number + std::string(unit.name);
        if (better(text, best)) best = text;
    }
    ORRERY_ENSURE(!best.empty(), "no unit prints {}", value);
    return value < 0 ? "-" + best : best;
}

std::string print(Dimension dimension, double value, std::string_view like) {
    if (like.empty()) like = example(dimension);
    if (dimension == Dimension::fraction || value == 0) {
        std::string const plain = fmt::format("{}", value);
        return dimension == Dimension::fraction ? plain : plain + std::string(unit_of(dimension, like));
    }
    // The shortest digits that read back as this value, e.g. 376 and 12 of 376000000000000.
    std::string const shortest = fmt::format("{}", value < 0 ? -value : value);
    auto const number = read_decimal(shortest);
    ORRERY_ENSURE(number && !number->too_many_digits, "{} does not read back", shortest);
    std::string const digits = fmt::format("{}", static_cast<std::uint64_t>(number->mantissa));
    std::string best;
    for (UnitName const& unit : units()) {
        if (unit.dimension != dimension || other_family(dimension, unit, like)) continue;
        std::string const mantissa = plain_decimal(digits, number->exponent - unit.exponent);
        std::string const text = mantissa + std::string(unit.name);
        if (!mantissa.empty() && better(text, best)) best = text;
    }
    // Beyond the prefixes: in the unit of the text to imitate.
    if (best.empty()) {
        UnitName const* unit = find_unit(dimension, unit_of(dimension, like));
        ORRERY_ENSURE(unit != nullptr, "{} is not {}", like, noun(dimension));
        best = fmt::format("{}e{}{}", digits, number->exponent - unit->exponent, unit->name);
    }
    return value < 0 ? "-" + best : best;
}

}  // namespace orrery::quantity
