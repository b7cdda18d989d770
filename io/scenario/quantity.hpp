// SPDX-License-Identifier: Apache-2.0
// Numbers with units as people write them: 1.9us, 400Gb/s, 28GB/s, 64KiB, 376TFLOPS, 85%.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace orrery::quantity {

// time: ps; rate: b/s; size: bytes; flops: operations per second (double); fraction: double.
enum class Dimension { time, rate, size, flops, fraction };

// Why a text was refused, and what to write instead. They become "problem (reason) fix".
struct Refusal {
    std::string reason;
    std::string fix;
};

// Either a value or the refusal.
template <class T>
struct Parsed {
    Parsed(T v) : value(std::move(v)) {}          // NOLINT: implicit on purpose, as in std::optional
    Parsed(Refusal r) : refusal(std::move(r)) {}  // NOLINT
    explicit operator bool() const { return value.has_value(); }
    std::optional<T> value;
    Refusal refusal;
};

// time, rate or size. Exact where the stored unit can hold it, else rounded to nearest; a nonzero value never becomes
// zero. `like` is a text such as the default: a refused bare number is answered with its unit.
Parsed<std::int64_t> parse_integer(Dimension, std::string_view text, std::string_view like = {});
// flops or fraction.
Parsed<double> parse_real(Dimension, std::string_view text, std::string_view like = {});

// The shortest exact text; `like` selects the family (b/s or B/s, FLOPS or OPS). parse(print(x)) == x.
std::string print(Dimension, std::int64_t value, std::string_view like = {});
std::string print(Dimension, double value, std::string_view like = {});

}  // namespace orrery::quantity
