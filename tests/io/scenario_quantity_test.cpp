// SPDX-License-Identifier: Apache-2.0
// Numbers with units: exact parsing, refusals, and print as the inverse of parse.
#include "core/random.hpp"
#include "io/scenario/decimal.hpp"
#include "io/scenario/nearest.hpp"
#include "io/scenario/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace orrery::quantity {
namespace {

std::int64_t whole(Dimension dimension, std::string_view text) {
    auto const parsed = parse_integer(dimension, text);
    EXPECT_TRUE(parsed) << text << ": " << parsed.refusal.reason;
    return parsed.value.value_or(-1);
}

std::string refusal(Dimension dimension, std::string_view text, std::string_view like = {}) {
    auto const parsed = parse_integer(dimension, text, like);
    EXPECT_FALSE(parsed) << text;
    return parsed.refusal.reason + " / " + parsed.refusal.fix;
}

std::string real_refusal(Dimension dimension, std::string_view text) {
    auto const parsed = parse_real(dimension, text);
    EXPECT_FALSE(parsed) << text;
    return parsed.refusal.reason + " / " + parsed.refusal.fix;
}

TEST(Quantity, TimesAreExactPicoseconds) {
    EXPECT_EQ(whole(Dimension::time, "1.9us"), 1'900'000);
    EXPECT_EQ(whole(Dimension::time, "200ns"), 200'000);
    EXPECT_EQ(whole(Dimension::time, "0.1us"), 100'000);
    EXPECT_EQ(whole(Dimension::time, "1e-3 ms"), 1'000'000);
    EXPECT_EQ(whole(Dimension::time, "9223372.036854775807s"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(whole(Dimension::time, "-3ps"), -3);
    EXPECT_EQ(whole(Dimension::time, "0s"), 0);
}

TEST(Quantity, RatesTellBitsFromBytesAndDecimalFromBinary) {
    EXPECT_EQ(whole(Dimension::rate, "400Gb/s"), 400'000'000'000);
    EXPECT_EQ(whole(Dimension::rate, "28GB/s"), 224'000'000'000);
    EXPECT_EQ(whole(Dimension::rate, "1GiB/s"), 8'589'934'592);
    EXPECT_EQ(whole(Dimension::rate, "1.6TB/s"), 12'800'000'000'000);
    EXPECT_EQ(whole(Dimension::size, "64KiB"), 65'536);
    EXPECT_EQ(whole(Dimension::size, "7.5kB"), 7'500);
}

TEST(Quantity, RoundsToNearestButNeverToZero) {
    EXPECT_EQ(whole(Dimension::time, "1.4ps"), 1);
    EXPECT_EQ(whole(Dimension::time, "1.5ps"), 2);
    EXPECT_EQ(whole(Dimension::time, "0.0005ns"), 1);
    EXPECT_EQ(refusal(Dimension::time, "0.0004ns"), "rounds to zero / the smallest value is 1ps");
    EXPECT_EQ(refusal(Dimension::rate, "1e-900Gb/s"), "rounds to zero / the smallest value is 1b/s");
}

TEST(Quantity, RefusalsNameTheFix) {
    EXPECT_EQ(refusal(Dimension::rate, "28GBs"), "unknown unit GBs / did you mean 28GB/s?");
    EXPECT_EQ(refusal(Dimension::rate, "400Gbps"), "unknown unit Gbps / did you mean 400Gb/s?");
    EXPECT_EQ(refusal(Dimension::rate, "400gb/s"), "unknown unit gb/s / did you mean 400Gb/s?");
    EXPECT_EQ(refusal(Dimension::time, "200", "150ns"), "has no unit / write 200ns");
    EXPECT_EQ(refusal(Dimension::time, "0"), "has no unit / write 0ns");
    EXPECT_EQ(refusal(Dimension::time, "3 NS"), "unknown unit NS / did you mean 3ns?");
    EXPECT_EQ(refusal(Dimension::time, "28GB/s"), "GB/s is the unit of a rate, not of a time / write it like 200ns");
    EXPECT_EQ(refusal(Dimension::size, "64KB"), "KB is ambiguous: 1000 or 1024 bytes / write 64kB or 64KiB");
    EXPECT_EQ(refusal(Dimension::rate, "64KB/s"), "KB/s is ambiguous: 1000 or 1024 bytes / write 64kB/s or 64KiB/s");
    EXPECT_EQ(refusal(Dimension::time, "fast"), "not a time / write it like 200ns");
    EXPECT_EQ(refusal(Dimension::time, "3 fortnights"), "unknown unit fortnights / units of a time: ps, ns, us, ms, s");
    EXPECT_EQ(refusal(Dimension::time, "1e30s"), "too large / the largest value is 9223372036854775807ps");
    EXPECT_EQ(refusal(Dimension::time, "1.23456789012345678901234s"), "more than 22 digits / write it like 200ns");
    EXPECT_EQ(real_refusal(Dimension::flops, "376"), "has no unit / write 376TFLOPS");
    EXPECT_EQ(real_refusal(Dimension::flops, "376TFLOP"), "unknown unit TFLOP / did you mean 376TFLOPS?");
    EXPECT_EQ(real_refusal(Dimension::fraction, "nan"), "not a fraction / write it like 0.85");
    EXPECT_EQ(real_refusal(Dimension::fraction, "1e999"), "cannot be represented / write it like 0.85");
}

TEST(Quantity, RealsAreCorrectlyRounded) {
    EXPECT_EQ(parse_real(Dimension::fraction, "85%").value, 0.85);
    EXPECT_EQ(parse_real(Dimension::fraction, "0.654").value, 0.654);
    EXPECT_EQ(parse_real(Dimension::flops, "376TFLOPS").value, 376e12);
    EXPECT_EQ(parse_real(Dimension::flops, "0.752POPS").value, 752e12);
    EXPECT_EQ(parse_real(Dimension::flops, "1E3GFLOPS").value, 1e12);
}

TEST(Quantity, PrintsTheShortestExactText) {
    EXPECT_EQ(print(Dimension::time, std::int64_t{1'900'000}), "1.9us");
    EXPECT_EQ(print(Dimension::time, std::int64_t{500'000}), "500ns");
    EXPECT_EQ(print(Dimension::time, std::int64_t{1'000'000'000}), "1ms");
    EXPECT_EQ(print(Dimension::time, std::int64_t{0}, "0ns"), "0s");
    EXPECT_EQ(print(Dimension::rate, std::int64_t{224'000'000'000}), "28GB/s");
    EXPECT_EQ(print(Dimension::rate, std::int64_t{400'000'000'000}, "200Gb/s"), "400Gb/s");
    EXPECT_EQ(print(Dimension::rate, std::int64_t{400'000'000'000}, "28GB/s"), "50GB/s");
    EXPECT_EQ(print(Dimension::size, std::int64_t{65'536}), "64KiB");
    EXPECT_EQ(print(Dimension::flops, 752e12, "1TOPS"), "752TOPS");
    EXPECT_EQ(print(Dimension::flops, 376e12), "376TFLOPS");
    EXPECT_EQ(print(Dimension::flops, 1e18, "752TOPS"), "1000POPS");
    EXPECT_EQ(print(Dimension::flops, 1e30, "752TOPS"), "1e18TOPS");
    EXPECT_EQ(print(Dimension::fraction, 0.93), "0.93");
}

TEST(Quantity, ParseOfPrintIsTheIdentityOnIntegers) {
    RandomSequence random(1, RandomStream::test, 0);
    for (int i = 0; i < 6'000; ++i) {
        std::uint64_t const bits = (static_cast<std::uint64_t>(random.next_u32()) << 32) | random.next_u32();
        auto value = static_cast<std::int64_t>(bits >> (1 + random.below(63)));
        // Round figures exercise the choice of unit, raw ones the digits.
        for (std::uint32_t zeros = random.below(14); zeros > 0 && value < 900'000'000'000'000'000; --zeros) value *= 10;
        for (Dimension const dimension : {Dimension::time, Dimension::rate, Dimension::size}) {
            for (std::string_view const like : {"", "1Gb/s", "1GB/s"}) {
                std::string const text = print(dimension, value, dimension == Dimension::rate ? like : "");
                ASSERT_EQ(whole(dimension, text), value) << text;
            }
        }
    }
    EXPECT_EQ(whole(Dimension::time, print(Dimension::time, std::int64_t{-1'900'000})), -1'900'000);
    for (Dimension const dimension : {Dimension::time, Dimension::rate, Dimension::size}) {
        constexpr auto largest = std::numeric_limits<std::int64_t>::max();
        EXPECT_EQ(whole(dimension, print(dimension, largest)), largest);
    }
}

TEST(Quantity, ParseOfPrintIsTheIdentityOnReals) {
    RandomSequence random(1, RandomStream::test, 1);
    for (int i = 0; i < 6'000; ++i) {
        double const value = random.unit() * std::pow(10.0, static_cast<int>(random.below(36)) - 16);
        for (Dimension const dimension : {Dimension::flops, Dimension::fraction}) {
            std::string const text = print(dimension, value);
            auto const parsed = parse_real(dimension, text);
            ASSERT_TRUE(parsed) << text;
            ASSERT_EQ(*parsed.value, value) << text;
        }
    }
}

TEST(Decimal, TheUnitIsNotAnExponent) {
    EXPECT_EQ(read_decimal("1EFLOPS")->length, 1U);
    EXPECT_EQ(read_decimal("1e3ns")->length, 3U);
    EXPECT_EQ(read_decimal("1.5e-3")->exponent, -4);
    EXPECT_FALSE(read_decimal("."));
    EXPECT_FALSE(read_decimal("-"));
    EXPECT_FALSE(read_decimal("inf"));
}

TEST(NearestName, FindsSlipsAndNothingElse) {
    EXPECT_EQ(nearest_name("contxt", {"context", "phase", "ep"}), "context");
    EXPECT_EQ(nearest_name("hpase", {"context", "phase", "ep"}), "phase");
    EXPECT_EQ(nearest_name("EP", {"context", "phase", "ep"}), "ep");
    EXPECT_EQ(nearest_name("temperature", {"context", "phase", "ep"}), "");
    EXPECT_EQ(edit_distance("GBs", "GB/s"), 2);
    EXPECT_EQ(edit_distance("gb/s", "Gb/s"), 1);
}

}  // namespace
}  // namespace orrery::quantity
