// SPDX-License-Identifier: Apache-2.0
#include "tests/mpi/mpi_gtest_main.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace orrery {
namespace {

using test::world;

TEST(World, HasTheProcessesThatMpirunStarted) {
    EXPECT_LT(world().index(), world().count());
    EXPECT_EQ(world().root(), world().index() == 0);
    char const* const started = std::getenv("OMPI_COMM_WORLD_SIZE");
    EXPECT_EQ(world().count(), started ? static_cast<std::uint32_t>(std::atoi(started)) : 1U);
}

TEST(World, GathersTextsInOrder) {
    auto const texts = world().gather(std::string(world().index(), 'x') + "|");
    ASSERT_EQ(texts.size(), world().root() ? world().count() : 0U);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(i, 'x') + "|");
}

TEST(World, BroadcastsFromProcessZero) {
    EXPECT_EQ(world().broadcast(world().root() ? "the scenario" : "nonsense"), "the scenario");
    EXPECT_EQ(world().broadcast(""), "");
}

TEST(World, ReducesElementByElement) {
    auto const i = static_cast<std::int64_t>(world().index());
    auto const n = static_cast<std::int64_t>(world().count());
    EXPECT_EQ(world().sum(std::vector{i, std::int64_t{1}}), (std::vector{n * (n - 1) / 2, n}));
    EXPECT_EQ(world().max(std::vector{i, -i}), (std::vector{n - 1, std::int64_t{0}}));
    EXPECT_EQ(world().min(std::vector{i, -i}), (std::vector{std::int64_t{0}, 1 - n}));
    EXPECT_EQ(world().sum(i), n * (n - 1) / 2);
    EXPECT_EQ(world().max(i), n - 1);
    EXPECT_EQ(world().min(i), 0);
    EXPECT_EQ(world().sum(std::vector<std::int64_t>{}), std::vector<std::int64_t>{});
    EXPECT_DOUBLE_EQ(world().max_of(0.5 * static_cast<double>(i)), 0.5 * static_cast<double>(n - 1));
}

TEST(World, SumsDigestsModulo64Bits) {
    auto const most = ~std::uint64_t{0};
    EXPECT_EQ(world().sum(std::vector{most}), std::vector{std::uint64_t{0} - world().count()});
}

}  // namespace
}  // namespace orrery
