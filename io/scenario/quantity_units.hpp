// SPDX-License-Identifier: Apache-2.0
// The table of units behind quantity.hpp.
#pragma once

#include "io/scenario/quantity.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace orrery::quantity {

enum class Family { time, bits, bytes, flops, ops, fraction };
enum class Base { decimal, binary };

struct UnitName {
    std::string_view name;
    Dimension dimension;
    Family family;
    Base base;
    std::uint64_t factor;  // stored units in one of these
    int exponent;          // log10 of the factor, for flops and fractions
};

std::span<UnitName const> units();
// The unit with this exact name in the dimension, or null. "B" is a size, never a rate.
UnitName const* find_unit(Dimension, std::string_view name);
UnitName const* find_unit_elsewhere(Dimension, std::string_view name);
// The unit of the dimension that was most likely meant, or null.
UnitName const* nearest_unit(Dimension, std::string_view name);
// "a time", "a rate", ...
std::string_view noun(Dimension);
// A text to imitate when no default is at hand.
std::string_view example(Dimension);

}  // namespace orrery::quantity
