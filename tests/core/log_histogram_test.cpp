// SPDX-License-Identifier: Apache-2.0
// A histogram of its own bins: exact where it says so, the same whatever the parts that it is merged from.
#include "core/log_histogram.hpp"

#include "core/digest.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(LogHistogram, MeanAndExtremesAreExactAndQuantilesWithin0Point8Percent) {
    LogHistogram h;
    EXPECT_EQ(h.count() + h.mean() + h.max() + h.min() + h.quantile(99), 0);
    for (std::int64_t v = 1; v <= 10'000; ++v) h.add(v * 1000);
    EXPECT_EQ(h.count(), 10'000);
    EXPECT_EQ(h.mean(), 5'000'500);
    EXPECT_EQ(h.min(), 1000);
    EXPECT_EQ(h.max(), 10'000'000);
    EXPECT_NEAR(static_cast<double>(h.quantile(50)), 5e6, 5e6 / 128);
    EXPECT_NEAR(static_cast<double>(h.quantile(95)), 9.5e6, 9.5e6 / 128);
    EXPECT_EQ(h.quantile(100), 10'000'000);
}

TEST(LogHistogram, PartsMergeToTheWhole) {
    LogHistogram whole, first, second, merged;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        auto const value = static_cast<std::int64_t>(DigestChain::mix(i) >> (i % 60 + 2));
        whole.add(value);
        (i % 3 == 0 ? first : second).add(value);
    }
    merged.merge(second);
    merged.merge(LogHistogram{});
    merged.merge(first);
    EXPECT_EQ(merged.sums(), whole.sums());
    EXPECT_EQ(merged.extremes(), whole.extremes());
    EXPECT_EQ(merged.mean(), whole.mean());
    EXPECT_EQ(merged.quantile(99), whole.quantile(99));
}

}  // namespace
}  // namespace orrery
