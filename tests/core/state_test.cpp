// SPDX-License-Identifier: Apache-2.0
// What StateStream saves it restores, whatever the fields are; bytes that do not fit the fields are noticed.
#include "core/state.hpp"

#include "tests/state_bytes.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace orrery::test {
namespace {

struct Inner {
    std::vector<std::uint16_t> small;
    std::string name;
    void state(StateStream& stream) { stream(small, name); }
    bool operator==(Inner const&) const = default;
};

struct Outer {
    std::int64_t number = 0;
    std::vector<std::uint64_t> many;
    std::vector<Inner> inner;
    std::map<std::uint32_t, Inner> by_key;
    std::optional<std::string> maybe, nothing = "was here before";
    std::deque<std::pair<int, Inner>> queue;
    std::array<std::vector<char>, 2> lists;
    std::vector<std::vector<std::vector<int>>> nested;
    void state(StateStream& stream) { stream(number, many, inner, by_key, maybe, nothing, queue, lists, nested); }
    bool operator==(Outer const&) const = default;
};

Outer sample() {
    Outer outer{.number = -5, .many = std::vector<std::uint64_t>(100'000), .inner = {{{1, 2}, "a"}, {{}, ""}}};
    std::iota(outer.many.begin(), outer.many.end(), 7U);  // larger than the stream's buffer
    outer.by_key[9] = {{3}, std::string(70'000, 'x')};
    outer.by_key[1] = {};
    outer.maybe = "some";
    outer.nothing.reset();
    outer.queue = {{4, {{5}, "q"}}};
    outer.lists[1] = {'z'};
    outer.nested = {{}, {{1}, {2, 3}}};
    return outer;
}

std::vector<std::byte> saved(Outer outer) {
    return testing::saved_bytes(outer);
}

TEST(StateStream, RestoresWhatItSaved) {
    auto const bytes = saved(sample());
    Outer got;
    StateStream stream(bytes);
    EXPECT_TRUE(stream.restoring());
    stream(got);
    stream.expect_end();
    EXPECT_EQ(got, sample());
    EXPECT_EQ(saved(got), bytes);
}

TEST(StateStream, NoticesBytesThatAreMissingOrLeft) {
    auto bytes = saved(sample());
    for (auto const cut : {std::size_t{1}, bytes.size() / 2, bytes.size() - 4}) {
        Outer got;
        StateStream stream{std::span<std::byte const>(bytes).first(bytes.size() - cut)};
        EXPECT_THROW(stream(got), InternalError) << cut;
    }
    bytes.push_back({});
    Outer got;
    StateStream stream(bytes);
    stream(got);
    EXPECT_THROW(stream.expect_end(), InternalError);
}

TEST(StateStream, AValueOfTheMomentIsHandedBack) {
    testing::StateBytes sink;
    StateStream saving(sink);
    EXPECT_FALSE(saving.restoring());
    EXPECT_EQ(saving.value(17), 17);
    saving.flush();
    StateStream restoring(sink.all);
    EXPECT_EQ(restoring.value(0), 17);
}

}  // namespace
}  // namespace orrery::test
