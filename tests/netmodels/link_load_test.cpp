// SPDX-License-Identifier: Apache-2.0
// The load of a link as a byte: how far off it is, and what a busy, a half busy and a queueing link show.
#include "netmodels/packet/link_load.hpp"

#include <gtest/gtest.h>

namespace orrery::testing {
namespace {

TEST(LinkLoad, ALevelIsWithinAFewPerCentOfItsLoad) {
    std::uint8_t last = 0;
    for (std::uint64_t load = LinkLoad::full / 16; load < LinkLoad::full * 15; load += load / 100 + 1) {
        auto const level = LinkLoad::level(load);
        EXPECT_GE(level, last);
        last = level;
        EXPECT_NEAR(static_cast<double>(LinkLoad::load(level)), static_cast<double>(load),
                    0.0165 * static_cast<double>(load));
    }
    EXPECT_EQ(LinkLoad::level(0), 0);
    EXPECT_EQ(LinkLoad::level(std::uint64_t{LinkLoad::full} * 1000), 255);
}

double settled(std::int64_t every, std::int64_t queued) {
    LinkLoad link;
    std::uint8_t level = 0;
    for (std::int64_t now = 0; now < 100'000'000; now += every) level = link.sent(now, 80'000, queued, 8'000'000);
    return static_cast<double>(LinkLoad::load(level)) / LinkLoad::full;
}

TEST(LinkLoad, IsTheShareOfTimeAndTheQueueInRoundTrips) {
    EXPECT_NEAR(settled(80'000, 0), 1, 0.03);
    EXPECT_NEAR(settled(160'000, 0), 0.5, 0.02);
    EXPECT_NEAR(settled(80'000, 4'000'000), 1.5, 0.04);  // half a round trip waits
}

}  // namespace
}  // namespace orrery::testing
