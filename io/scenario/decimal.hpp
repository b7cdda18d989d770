// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as users write them, kept exact: 1.9us must become 1900000 ps without passing through a double.
#pragma once

#include "core/units.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery::quantity {

// (-1)^negative * mantissa * 10^exponent.
struct Decimal {
    bool negative = false;
    UInt128 mantissa = 0;
    int exponent = 0;
    bool too_many_digits = false;  // more than 22 significant digits: the mantissa is not usable
    std::size_t length = 0;        // characters that were read
};

// The number at the front of the text; nothing if there is none.
std::optional<Decimal> read_decimal(std::string_view text);

enum class Rounding { exact, to_nearest, too_large, vanishes };

struct Scaled {
    Int128 value = 0;
    Rounding rounding = Rounding::exact;
};

// number * factor, rounded to the nearest integer (halves away from zero). `vanishes`: a nonzero number rounds to zero.
// `too_large`: beyond 2^64. The factor is at most 10^15.
Scaled scale(Decimal const& number, UInt128 factor);

// number * 10^shift, correctly rounded; nothing if it overflows or vanishes.
std::optional<double> to_double(Decimal const& number, int shift);

}  // namespace orrery::quantity
