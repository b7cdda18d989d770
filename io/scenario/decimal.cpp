// SPDX-License-Identifier: Apache-2.0
// Exact decimal arithmetic on 128 bits.
#include "io/scenario/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>

namespace orrery::quantity {

namespace {

constexpr int max_digits = 22;  // 20 of a 64-bit integer and what bytes/s add; 10^22 * 10^15 stays below 2^127

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct Exponent {
    int value = 0;
    std::size_t end = 0;
};

// An exponent needs a digit: the E of "1EFLOPS" belongs to the unit.
Exponent read_exponent(std::string_view text, std::size_t at) {
    std::size_t i = at;
    if (i >= text.size() || (text[i] != 'e' && text[i] != 'E')) return {0, at};
    ++i;
    bool const negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (i >= text.size() || !is_digit(text[i])) return {0, at};
    int value = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) value = std::min(9999, value * 10 + (text[i] - '0'));
    return {negative ? -value : value, i};
}

}  // namespace

std::optional<Decimal> read_decimal(std::string_view text) {
    Decimal number;
    std::size_t i = 0;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) number.negative = text[i++] == '-';
    bool any = false, point = false;
    int significant = 0, pending_zeros = 0, fraction_digits = 0;
    for (; i < text.size(); ++i) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(text[i])) break;
        any = true;
        fraction_digits += point ? 1 : 0;
        if (text[i] == '0') {  // zeros count only once a digit follows: 0.500000000000000000000000 is short
            pending_zeros += number.mantissa != 0 ? 1 : 0;
            continue;
        }
        significant += pending_zeros + 1;
        if (significant > max_digits) {
            number.too_many_digits = true;
        } else {
            for (; pending_zeros > 0; --pending_zeros) number.mantissa *= 10;
            number.mantissa = number.mantissa * 10 + static_cast<unsigned>(text[i] - '0');
        }
        pending_zeros = 0;
    }
    if (!any) return std::nullopt;
    Exponent const exponent = read_exponent(text, i);
    number.length = exponent.end;
    number.exponent = exponent.value + pending_zeros - fraction_digits;
    if (number.mantissa == 0) number.exponent = 0;
    return number;
}

Scaled scale(Decimal const& number, UInt128 factor) {
    constexpr UInt128 limit = static_cast<UInt128>(std::numeric_limits<std::uint64_t>::max());
    UInt128 value = number.mantissa * factor;
    Rounding rounding = Rounding::exact;
    if (value == 0) return {};
    for (int e = number.exponent; e > 0; --e) {
        if (value > limit) return {0, Rounding::too_large};
        value *= 10;
    }
    if (number.exponent < 0) {
        UInt128 divisor = 1;
        int e = number.exponent;
        // 10^38 is the largest power of ten in 128 bits; more negative exponents divide anything here to zero.
        for (; e < 0 && divisor <= (~static_cast<UInt128>(0)) / 100; ++e) divisor *= 10;
        UInt128 const quotient = e < 0 ? 0 : value / divisor;
        UInt128 const rest = e < 0 ? 1 : value % divisor;
        if (rest != 0) rounding = Rounding::to_nearest;
        bool const up = e == 0 && rest >= divisor - rest;
        value = quotient + (up ? 1 : 0);
        if (value == 0) return {0, Rounding::vanishes};
    }
    if (value > limit) return {0, Rounding::too_large};
    auto const magnitude = static_cast<Int128>(value);
    return {number.negative ? -magnitude : magnitude, rounding};
}

std::optional<double> to_double(Decimal const& number, int shift) {
    auto const high = static_cast<std::uint64_t>(number.mantissa / 10'000'000'000U);
    auto const low = static_cast<std::uint64_t>(number.mantissa % 10'000'000'000U);
    std::string const text =
        fmt::format("{}{}{:010}e{}", number.negative ? "-" : "", high, low, number.exponent + shift);
    double value = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace orrery::quantity
