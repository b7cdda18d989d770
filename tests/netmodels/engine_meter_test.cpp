// SPDX-License-Identifier: Apache-2.0
// The meter of link traffic: whole bytes per bin, the rest carried on, whenever it is asked.
#include "core/random.hpp"
#include "netmodels/exchange/link_meter.hpp"
#include "tests/netmodels/exchange_testing.hpp"

namespace orrery::testing {
namespace {

constexpr std::int64_t scale = 4096;

std::int64_t load_of(Rate rate) {
    return rate.bits_per_s() * scale;
}

std::vector<BundleId> two_bundles() {
    return {BundleId{7}, BundleId{9}};
}

TEST(LinkMeter, AConstantLoadFillsEveryBin) {
    auto const bundles = two_bundles();
    LinkMeter meter(bundles, 10_us, scale);
    meter.change(0, 5_us, load_of(8_GBps));  // 8,000 B per us
    meter.change(0, 32_us, 0);
    Rows rows;
    meter.emit_until(100_us, rows);
    ASSERT_EQ(rows.bins.size(), 4U);
    std::int64_t const expected[] = {5 * 8'000, 10 * 8'000, 10 * 8'000, 2 * 8'000};
    for (std::uint32_t bin = 0; bin < 4; ++bin) {
        EXPECT_EQ(rows.bins[bin].bundle, 7U);
        EXPECT_EQ(rows.bins[bin].bin, bin);
        EXPECT_EQ(rows.bins[bin].wire_bytes, expected[bin]);
    }
}

TEST(LinkMeter, AFractionOfAByteIsNotLost) {
    auto const bundles = two_bundles();
    LinkMeter meter(bundles, 1_us, scale);
    meter.change(1, 0_us, load_of(Rate::from_bits_per_s(12'000'000)));  // 1.5 B per us
    meter.change(1, 8_us, 0);
    Rows rows;
    meter.emit_until(20_us, rows);
    std::int64_t sum = 0;
    for (auto const& row : rows.bins) sum += row.wire_bytes;
    EXPECT_EQ(sum, 12);
    EXPECT_EQ(rows.bins[0].wire_bytes, 1);
    EXPECT_EQ(rows.bins[1].wire_bytes, 2);
}

TEST(LinkMeter, TheOpenBinIsNotEmitted) {
    auto const bundles = two_bundles();
    LinkMeter meter(bundles, 10_us, scale);
    meter.change(0, 0_us, load_of(8_GBps));
    Rows rows;
    meter.emit_until(19_us, rows);
    ASSERT_EQ(rows.bins.size(), 1U);
    EXPECT_EQ(rows.bins[0].bin, 0U);
    meter.emit_until(20_us, rows);
    EXPECT_EQ(rows.bins.size(), 2U);
    meter.emit_until(20_us, rows);
    EXPECT_EQ(rows.bins.size(), 2U);
}

TEST(LinkMeter, HowOftenItIsAskedChangesNothing) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const bundles = two_bundles();
        LinkMeter once(bundles, 3_us, scale), often(bundles, 3_us, scale);
        RandomSequence random(seed, RandomStream::test, 0);
        Rows all, parts;
        Time now;
        UInt128 exact[2] = {};
        std::int64_t load[2] = {};
        for (int step = 0; step < 200; ++step) {
            auto const gap = Time::from_ps(random.below(5'000'000));
            now += gap;
            for (int link = 0; link < 2; ++link)
                exact[link] += static_cast<UInt128>(load[link]) * static_cast<std::uint64_t>(gap.ps());
            auto const link = random.below(2);
            load[link] =
                random.below(3) == 0 ? 0 : load_of(Rate::from_bits_per_s(1 + random.below(400'000'000) * 1000LL));
            once.change(link, now, load[link]);
            often.change(link, now, load[link]);
            if (random.below(3) == 0) often.emit_until(now, parts);
        }
        for (std::uint32_t link = 0; link < 2; ++link) {
            once.change(link, now, 0);
            often.change(link, now, 0);
        }
        now += 3_us;
        once.emit_until(now, all);
        often.emit_until(now, parts);
        ASSERT_EQ(all.bins.size(), parts.bins.size());
        std::int64_t sum[2] = {};
        for (std::size_t i = 0; i < all.bins.size(); ++i) {
            EXPECT_EQ(all.bins[i].bundle, parts.bins[i].bundle);
            EXPECT_EQ(all.bins[i].bin, parts.bins[i].bin);
            EXPECT_EQ(all.bins[i].wire_bytes, parts.bins[i].wire_bytes);
            sum[all.bins[i].bundle == 7 ? 0 : 1] += all.bins[i].wire_bytes;
            if (i == 0) continue;
            auto const& before = all.bins[i - 1];
            EXPECT_TRUE(before.bin < all.bins[i].bin ||
                        (before.bin == all.bins[i].bin && before.bundle < all.bins[i].bundle));
        }
        for (int link = 0; link < 2; ++link)
            EXPECT_EQ(sum[link],
                      static_cast<std::int64_t>(exact[link] / (static_cast<UInt128>(scale) * 8'000'000'000'000U)));
    }
}

}  // namespace
}  // namespace orrery::testing
