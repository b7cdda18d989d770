// SPDX-License-Identifier: Apache-2.0
// The split of overheads and latency between the events of a message.
#include "netmodels/exchange/message_timing.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using namespace literals;

// There and back together take what LogGP says, and every event has its lookahead.
void expect_sound(MessageTiming::Wish const& wish, Time lookahead) {
    auto const timing = MessageTiming::make(wish);
    EXPECT_EQ(timing.lookahead, lookahead);
    EXPECT_EQ(timing.post + timing.back, wish.send_overhead + wish.receive_overhead);
    EXPECT_GE(timing.post, timing.lookahead);
    EXPECT_GE(wish.known_ahead + timing.back, timing.lookahead * (wish.many_domains ? 2 : 1));
}

TEST(MessageTiming, SplitsTheLatencyWhereThereAreNoOverheads) {
    expect_sound({.known_ahead = 1_us}, 500_ns);
    expect_sound({.known_ahead = 900_ns, .many_domains = true}, 300_ns);
}

TEST(MessageTiming, UsesOverheads) {
    expect_sound({.send_overhead = 3_us, .receive_overhead = 2_us, .known_ahead = 1_us}, 3_us);
    expect_sound({.send_overhead = 3_us, .known_ahead = 1_us}, 1_us);
    expect_sound({.receive_overhead = 3_us, .known_ahead = 1_us}, 2_us);
}

TEST(MessageTiming, PacketsNeedRoomBehindTheArrival) {
    expect_sound({.send_overhead = 250_ns, .receive_overhead = 750_ns, .known_ahead = Time{} - 500_ns}, 250_ns);
    EXPECT_LE(MessageTiming::make({.known_ahead = Time{} - 500_ns}).lookahead, Time{});
}

}  // namespace
}  // namespace orrery
