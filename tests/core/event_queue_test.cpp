// SPDX-License-Identifier: Apache-2.0
#include "core/event_queue_impl.hpp"
#include "core/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace orrery {
namespace {

using Queue = EventQueue<TotalOrder>;
using namespace literals;

Event event_at(Time when, std::uint32_t target = 0, std::uint32_t source = 0, std::uint32_t sequence = 0,
               std::uint16_t kind = 0) {
    Event event;
    event.when = when;
    event.target = LpId(target);
    event.source = LpId(source);
    event.sequence = sequence;
    event.kind = kind;
    return event;
}

struct Before {
    bool operator()(Event const& a, Event const& b) const { return before(a, b); }
};

TEST(Window, HoldsItsBeginAndNotItsEnd) {
    auto const window = Window::containing(1'999_ps, 1_ns);
    EXPECT_EQ(window.index, 1);
    EXPECT_EQ(window.begin, 1_ns);
    EXPECT_EQ(window.end, 2_ns);
    EXPECT_TRUE(window.contains(1_ns));
    EXPECT_FALSE(window.contains(2_ns));
}

TEST(Window, EndsAtInfinityInsteadOfOverflowing) {
    EXPECT_EQ(Window::containing(5_ns, Time::infinity()).end, Time::infinity());
}

TEST(EventQueue, IsEmptyAtFirst) {
    Queue queue(1_ns);
    EXPECT_EQ(queue.size(), 0);
    EXPECT_EQ(queue.next(), Time::infinity());
    EXPECT_EQ(queue.top(), nullptr);
}

TEST(EventQueue, BreaksTiesByTargetKindSourceSequence) {
    std::vector<Event> const expected = {event_at(5_ps, 1, 9, 9, 9), event_at(5_ps, 2, 9, 9, 1),
                                         event_at(5_ps, 2, 3, 9, 2), event_at(5_ps, 2, 4, 1, 2),
                                         event_at(5_ps, 2, 4, 2, 2), event_at(6_ps, 0, 0, 0, 0)};
    Queue queue(1_ns);
    for (auto it = expected.rbegin(); it != expected.rend(); ++it) queue.push(*it);
    queue.open(Window::containing(queue.next(), 1_ns));
    for (auto const& event : expected) {
        ASSERT_NE(queue.top(), nullptr);
        EXPECT_EQ(order(*queue.top(), event), std::strong_ordering::equal);
        queue.pop();
    }
    EXPECT_EQ(queue.size(), 0);
}

TEST(EventQueue, TakesEventsIntoTheWindowThatIsOpen) {
    Queue queue(1_ns);
    queue.push(event_at(1_ps));
    queue.push(event_at(900_ps));
    queue.open(Window::containing(1_ps, 1_ns));
    queue.pop();
    queue.push(event_at(950_ps));
    queue.push(event_at(500_ps));
    for (auto const when : {500_ps, 900_ps, 950_ps}) {
        EXPECT_EQ(queue.top()->when, when);
        EXPECT_EQ(queue.next(), when);
        queue.pop();
    }
    EXPECT_EQ(queue.top(), nullptr);
}

TEST(EventQueue, RefusesThePastAndSkippedEvents) {
    Queue queue(1_ns);
    queue.push(event_at(5'500_ps));
    EXPECT_THROW(queue.open(Window::containing(7_ns, 1_ns)), InternalError);
    queue.open(Window::containing(5_ns, 1_ns));
    EXPECT_THROW(queue.push(event_at(4'999_ps)), InternalError);
    EXPECT_THROW(queue.push(event_at(Time::infinity())), InternalError);
    EXPECT_THROW(queue.push(event_at(Time{} - 1_ps)), InternalError);
}

// Against a std::set in the same total order: near, ring-wrapping and far pushes, and jumps.
TEST(EventQueue, AgreesWithAnOrderedSet) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RandomSequence draw(seed, RandomStream::test, 0);
        Time const width = Time::from_ps(1 + draw.below(50));
        Queue queue(width);
        std::set<Event, Before> reference;
        std::uint32_t sequence = 0;
        auto const push = [&](Time from) {
            // Distances of up to two bucket rings, many of them equal.
            std::uint32_t const scale[] = {1, 40, 2'000, 1'024 * 50, 4'000'000};
            auto const ahead = draw.below(scale[draw.below(5)]);
            auto const event = event_at(from + Time::from_ps(ahead), draw.below(3), draw.below(3), sequence++);
            queue.push(event);
            reference.insert(event);
        };
        for (int i = 0; i < 200; ++i) push(Time{});
        std::int64_t handled = 0;
        while (!reference.empty()) {
            ASSERT_EQ(queue.next(), reference.begin()->when);
            ASSERT_EQ(queue.size(), static_cast<std::int64_t>(reference.size()));
            queue.open(Window::containing(queue.next(), width));
            while (auto const* top = queue.top()) {
                Event const event = *top;
                ASSERT_EQ(order(event, *reference.begin()), std::strong_ordering::equal);
                queue.pop();
                reference.erase(reference.begin());
                if (++handled < 5'000) push(event.when);
            }
        }
        EXPECT_EQ(queue.next(), Time::infinity());
        EXPECT_GE(handled, 5'000);
    }
}

}  // namespace
}  // namespace orrery
