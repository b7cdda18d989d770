// SPDX-License-Identifier: Apache-2.0
#include "core/units.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace orrery {
namespace {

struct Scale {
    double factor;
    char const* unit;
};

template <std::size_t N>
std::string scaled(double value, std::array<Scale, N> const& scales) {
    for (auto const& scale : scales)
        if (std::abs(value) >= scale.factor) return fmt::format("{:.4g} {}", value / scale.factor, scale.unit);
    return fmt::format("{:.4g} {}", value / scales.back().factor, scales.back().unit);
}

}  // namespace

Time Time::from_seconds(double seconds) {
    ORRERY_ENSURE(seconds >= 0 && seconds < 9e6, "duration of {} s is out of range", seconds);
    return from_ps(static_cast<std::int64_t>(std::ceil(seconds * 1e12)));
}

Time transfer_time(std::int64_t bytes, Rate rate) {
    ORRERY_ENSURE(bytes >= 0 && rate > Rate{}, "transfer of {} B at {} b/s", bytes, rate.bits_per_s());
    UInt128 const bit_picoseconds = static_cast<UInt128>(bytes) * 8'000'000'000'000U;
    auto const divisor = static_cast<UInt128>(rate.bits_per_s());
    auto const ps = (bit_picoseconds + divisor - 1) / divisor;
    ORRERY_ENSURE(ps <= static_cast<UInt128>(std::numeric_limits<std::int64_t>::max() / 2),
                  "transfer of {} B at {} b/s takes longer than simulated time can hold", bytes, rate.bits_per_s());
    return Time::from_ps(static_cast<std::int64_t>(ps));
}

std::string to_string(Time time) {
    if (time == Time::infinity()) return "never";
    return scaled(static_cast<double>(time.ps()),
                  std::array<Scale, 5>{{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}});
}

std::string to_string(Rate rate) {
    return scaled(rate.bytes_per_s(),
                  std::array<Scale, 5>{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}});
}

std::string bytes_text(std::int64_t bytes) {
    return scaled(static_cast<double>(bytes),
                  std::array<Scale, 5>{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}});
}

}  // namespace orrery
