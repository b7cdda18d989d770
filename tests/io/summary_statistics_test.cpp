// SPDX-License-Identifier: Apache-2.0
// Statistics of durations: exact where they say so, within 0.8 % elsewhere, and the same in any grouping.
#include "core/check.hpp"
#include "core/digest.hpp"
#include "io/summary/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace orrery {
namespace {

OperationRow lasting(std::int64_t ps, OpKind kind = OpKind::dispatch) {
    OperationRow row;
    row.start = Time::from_ps(1000);
    row.end = Time::from_ps(1000 + ps);
    row.wait = Time::from_ps(ps / 4);
    row.exposed = Time::from_ps(ps / 2);
    row.kind = kind;
    return row;
}

TEST(LogBins, EveryValueIsInABinWhoseMiddleIsWithinOne128th) {
    std::size_t last = 0;
    for (std::int64_t v = 0; v < 100'000; ++v) {
        auto const bin = LogBins::index(v);
        ASSERT_TRUE(bin == last || bin == last + 1) << v;
        last = bin;
        ASSERT_LE(std::abs(LogBins::middle(bin) - v) * 128, v) << v;
    }
    for (int bits = 17; bits < 63; ++bits)
        for (std::int64_t const v : {(1LL << bits) - 1, 1LL << bits, (1LL << bits) + (1LL << (bits - 1)) - 1})
            ASSERT_LE(static_cast<double>(std::abs(LogBins::middle(LogBins::index(v)) - v)),
                      static_cast<double>(v) / 128)
                << v;
}

TEST(OperationStatistics, MeanMaximumAndSharesAreExact) {
    auto const s = std::make_unique<OperationStatistics>();
    for (std::int64_t const ps : {100, 200, 600}) s->add(lasting(ps));
    EXPECT_EQ(s->count(OpKind::dispatch), 3);
    EXPECT_EQ(s->mean(OpKind::dispatch), Time::from_ps(300));
    EXPECT_EQ(s->wait_mean(OpKind::dispatch), Time::from_ps(75));
    EXPECT_EQ(s->max(OpKind::dispatch), Time::from_ps(600));
    EXPECT_EQ(s->min(OpKind::dispatch), Time::from_ps(100));
    EXPECT_EQ(s->exposed_share(OpKind::dispatch), 0.5);
    EXPECT_EQ(s->count(OpKind::combine), 0);
    EXPECT_EQ(s->quantile(OpKind::combine, 99), Time{});
}

TEST(OperationStatistics, SumsBeyond64BitsStayExact) {
    auto const s = std::make_unique<OperationStatistics>();
    constexpr std::int64_t huge = std::int64_t{1} << 61;
    for (int i = 0; i < 10; ++i) s->add(lasting(huge + 2 * i));
    EXPECT_EQ(s->mean(OpKind::dispatch), Time::from_ps(huge + 9));
}

TEST(OperationStatistics, EqualDurationsHaveExactQuantiles) {
    auto const s = std::make_unique<OperationStatistics>();
    for (int i = 0; i < 100; ++i) s->add(lasting(123'456'789));
    EXPECT_EQ(s->quantile(OpKind::dispatch, 50), Time::from_ps(123'456'789));
    EXPECT_EQ(s->quantile(OpKind::dispatch, 99), Time::from_ps(123'456'789));
}

TEST(OperationStatistics, QuantilesAreWithinOne128th) {
    auto const s = std::make_unique<OperationStatistics>();
    std::vector<std::int64_t> values;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        values.push_back(static_cast<std::int64_t>(DigestChain::mix(i) % 100'000'000'000));
        s->add(lasting(values.back()));
    }
    std::ranges::sort(values);
    for (int const percent : {1, 50, 99, 100}) {
        auto const exact = static_cast<double>(values[static_cast<std::size_t>(percent) * 100 - 1]);
        EXPECT_NEAR(static_cast<double>(s->quantile(OpKind::dispatch, percent).ps()), exact, exact / 128) << percent;
    }
}

TEST(OperationStatistics, AnyGroupingGivesTheSameWords) {
    auto const whole = std::make_unique<OperationStatistics>();
    std::vector<std::unique_ptr<OperationStatistics>> shares;
    for (int p = 0; p < 7; ++p) shares.push_back(std::make_unique<OperationStatistics>());
    for (std::uint64_t i = 0; i < 5000; ++i) {
        auto const row = lasting(static_cast<std::int64_t>(DigestChain::mix(i) >> 4), static_cast<OpKind>(i % 7));
        whole->add(row);
        shares[i * 7919 % 7]->add(row);
    }
    auto const forward = std::make_unique<OperationStatistics>(), backward = std::make_unique<OperationStatistics>();
    for (int p = 0; p < 7; ++p) forward->merge(*shares[static_cast<std::size_t>(p)]);
    for (int p = 6; p >= 0; --p) backward->merge(*shares[static_cast<std::size_t>(p)]);
    EXPECT_TRUE(std::ranges::equal(forward->words(), backward->words()));
    EXPECT_TRUE(std::ranges::equal(forward->max_words(), whole->max_words()));
    for (int k = 0; k < op_kind_count; ++k) {
        auto const kind = static_cast<OpKind>(k);
        EXPECT_EQ(forward->mean(kind), whole->mean(kind));
        EXPECT_EQ(forward->quantile(kind, 99), whole->quantile(kind, 99));
        EXPECT_EQ(forward->exposed_share(kind), whole->exposed_share(kind));
    }
}

}  // namespace
}  // namespace orrery
