// SPDX-License-Identifier: Apache-2.0
// Time, bytes and rates as integer types that cannot be mixed.
#pragma once

#include "core/check.hpp"

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace orrery {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// A point in simulated time or a duration, in picoseconds. Range: +-106 days.
class Time {
  public:
    constexpr Time() = default;
    constexpr static Time from_ps(std::int64_t ps) { return Time{ps}; }
    // Rounds up, so that a modelled duration is never shorter than its formula.
    static Time from_seconds(double seconds);
    constexpr static Time infinity() { return Time{std::numeric_limits<std::int64_t>::max()}; }

    constexpr std::int64_t ps() const { return ps_; }
    constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

    constexpr Time& operator+=(Time other) {
        ps_ += other.ps_;
        return *this;
    }
    constexpr Time& operator-=(Time other) {
        ps_ -= other.ps_;
        return *this;
    }
    friend constexpr Time operator+(Time a, Time b) { return a += b; }
    friend constexpr Time operator-(Time a, Time b) { return a -= b; }
    friend constexpr Time operator*(Time a, std::int64_t n) { return Time{a.ps_ * n}; }
    friend constexpr Time operator*(std::int64_t n, Time a) { return a * n; }
    friend constexpr std::strong_ordering operator<=>(Time, Time) = default;

  private:
    explicit constexpr Time(std::int64_t ps) : ps_(ps) {}
    std::int64_t ps_ = 0;
};

// A link or engine rate in bits per second (decimal: 1 GB/s = 8e9 b/s).
class Rate {
  public:
    constexpr Rate() = default;
    constexpr static Rate from_bits_per_s(std::int64_t bps) { return Rate{bps}; }
    constexpr static Rate unlimited() { return Rate{std::numeric_limits<std::int64_t>::max()}; }
    constexpr std::int64_t bits_per_s() const { return bps_; }
    constexpr double bytes_per_s() const { return static_cast<double>(bps_) / 8.0; }

    constexpr Rate& operator+=(Rate other) {
        bps_ += other.bps_;
        return *this;
    }
    friend constexpr Rate operator+(Rate a, Rate b) { return a += b; }
    friend constexpr Rate operator*(Rate a, std::int64_t n) { return Rate{a.bps_ * n}; }
    friend constexpr std::strong_ordering operator<=>(Rate, Rate) = default;

  private:
    explicit constexpr Rate(std::int64_t bps) : bps_(bps) {}
    std::int64_t bps_ = 0;
};

// ceil(bytes * 8e12 / rate) in 128 bits; the rate must be positive.
Time transfer_time(std::int64_t bytes, Rate rate);

std::string to_string(Time);                 // "1.234 us": four significant digits, the unit that fits
std::string to_string(Rate);                 // "196 GB/s"
std::string bytes_text(std::int64_t bytes);  // "7.864 MB" (decimal)

namespace literals {
constexpr Time operator""_ps(unsigned long long v) {
    return Time::from_ps(static_cast<std::int64_t>(v));
}
constexpr Time operator""_ns(unsigned long long v) {
    return Time::from_ps(static_cast<std::int64_t>(v) * 1'000);
}
constexpr Time operator""_us(unsigned long long v) {
    return Time::from_ps(static_cast<std::int64_t>(v) * 1'000'000);
}
constexpr Time operator""_ms(unsigned long long v) {
    return Time::from_ps(static_cast<std::int64_t>(v) * 1'000'000'000);
}
constexpr Rate operator""_Gbps(unsigned long long v) {
    return Rate::from_bits_per_s(static_cast<std::int64_t>(v) * 1'000'000'000);
}
constexpr Rate operator""_GBps(unsigned long long v) {
    return Rate::from_bits_per_s(static_cast<std::int64_t>(v) * 8'000'000'000);
}
}  // namespace literals

}  // namespace orrery
