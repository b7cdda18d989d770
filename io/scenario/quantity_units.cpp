// SPDX-License-Identifier: Apache-2.0
// Units: SI prefixes are decimal, KiB and friends binary; "KB" is refused because people mean both.
#include "io/scenario/quantity_units.hpp"

#include "io/scenario/nearest.hpp"

#include <array>

namespace orrery::quantity {

namespace {

constexpr std::uint64_t k = 1'000, m = k * k, g = m * k, t = g * k, p = t * k;
constexpr std::uint64_t ki = 1'024, mi = ki * ki, gi = mi * ki, ti = gi * ki;

using enum Dimension;

// Within a family from small to large: printing prefers the later of two equally short texts.
constexpr std::array table{
    UnitName{"ps", time, Family::time, Base::decimal, 1, 0},
    UnitName{"ns", time, Family::time, Base::decimal, k, 3},
    UnitName{"us", time, Family::time, Base::decimal, m, 6},
    UnitName{"ms", time, Family::time, Base::decimal, g, 9},
    UnitName{"s", time, Family::time, Base::decimal, t, 12},

    UnitName{"b/s", rate, Family::bits, Base::decimal, 1, 0},
    UnitName{"kb/s", rate, Family::bits, Base::decimal, k, 3},
    UnitName{"Mb/s", rate, Family::bits, Base::decimal, m, 6},
    UnitName{"Gb/s", rate, Family::bits, Base::decimal, g, 9},
    UnitName{"Tb/s", rate, Family::bits, Base::decimal, t, 12},
    UnitName{"B/s", rate, Family::bytes, Base::decimal, 8, 0},
    UnitName{"kB/s", rate, Family::bytes, Base::decimal, 8 * k, 3},
    UnitName{"MB/s", rate, Family::bytes, Base::decimal, 8 * m, 6},
    UnitName{"GB/s", rate, Family::bytes, Base::decimal, 8 * g, 9},
    UnitName{"TB/s", rate, Family::bytes, Base::decimal, 8 * t, 12},
    UnitName{"KiB/s", rate, Family::bytes, Base::binary, 8 * ki, 0},
    UnitName{"MiB/s", rate, Family::bytes, Base::binary, 8 * mi, 0},
    UnitName{"GiB/s", rate, Family::bytes, Base::binary, 8 * gi, 0},
    UnitName{"TiB/s", rate, Family::bytes, Base::binary, 8 * ti, 0},

    UnitName{"B", size, Family::bytes, Base::decimal, 1, 0},
    UnitName{"kB", size, Family::bytes, Base::decimal, k, 3},
    UnitName{"MB", size, Family::bytes, Base::decimal, m, 6},
    UnitName{"GB", size, Family::bytes, Base::decimal, g, 9},
    UnitName{"TB", size, Family::bytes, Base::decimal, t, 12},
    UnitName{"KiB", size, Family::bytes, Base::binary, ki, 0},
    UnitName{"MiB", size, Family::bytes, Base::binary, mi, 0},
    UnitName{"GiB", size, Family::bytes, Base::binary, gi, 0},
    UnitName{"TiB", size, Family::bytes, Base::binary, ti, 0},

    UnitName{"FLOPS", flops, Family::flops, Base::decimal, 1, 0},
    UnitName{"MFLOPS", flops, Family::flops, Base::decimal, m, 6},
    UnitName{"GFLOPS", flops, Family::flops, Base::decimal, g, 9},
    UnitName{"TFLOPS", flops, Family::flops, Base::decimal, t, 12},
    UnitName{"PFLOPS", flops, Family::flops, Base::decimal, p, 15},
    UnitName{"OPS", flops, Family::ops, Base::decimal, 1, 0},
    UnitName{"MOPS", flops, Family::ops, Base::decimal, m, 6},
    UnitName{"GOPS", flops, Family::ops, Base::decimal, g, 9},
    UnitName{"TOPS", flops, Family::ops, Base::decimal, t, 12},
    UnitName{"POPS", flops, Family::ops, Base::decimal, p, 15},

    UnitName{"", fraction, Family::fraction, Base::decimal, 1, 0},
    UnitName{"%", fraction, Family::fraction, Base::decimal, 1, -2},
};

}  // namespace

std::span<UnitName const> units() {
    return table;
}

UnitName const* find_unit(Dimension dimension, std::string_view name) {
    for (UnitName const& unit : table)
        if (unit.dimension == dimension && unit.name == name) return &unit;
    return nullptr;
}

UnitName const* find_unit_elsewhere(Dimension dimension, std::string_view name) {
    for (UnitName const& unit : table)
        if (unit.dimension != dimension && unit.name == name && !name.empty()) return &unit;
    return nullptr;
}

UnitName const* nearest_unit(Dimension dimension, std::string_view name) {
    UnitName const* best = nullptr;
    int best_distance = 7;  // three edits: beyond that a guess misleads
    for (UnitName const& unit : table) {
        if (unit.dimension != dimension || unit.name.empty()) continue;
        int const distance = edit_distance(name, unit.name);
        if (distance < best_distance) {
            best = &unit;
            best_distance = distance;
        }
    }
    return best;
}

std::string_view noun(Dimension dimension) {
    switch (dimension) {
        case time:
            return "a time";
        case rate:
            return "a rate";
        case size:
            return "a size";
        case flops:
            return "an operation rate";
        case fraction:
            return "a fraction";
    }
    return "a number";
}

std::string_view example(Dimension dimension) {
    switch (dimension) {
        case time:
            return "200ns";
        case rate:
            return "400Gb/s";
        case size:
            return "64KiB";
        case flops:
            return "376TFLOPS";
        case fraction:
            return "0.85";
    }
    return "1";
}

}  // namespace orrery::quantity
