// SPDX-License-Identifier: Apache-2.0
// The window loop over real processes gives the digest of the dry run with one.
#include "partitions/dry_run_exchange.hpp"
#include "partitions/mpi_exchange.hpp"
#include "partitions/partition.hpp"
#include "tests/core/simple_lp.hpp"
#include "tests/mpi/mpi_gtest_main.hpp"
#include "tests/partitions/phold.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using test::OwnedPhold;
using test::world;

struct Result {
    Digest digest;
    RunOutcome outcome;
};

Result simulate(Exchange& exchange, std::vector<std::uint32_t> const& owner, Time width) {
    OwnedPhold part(owner, exchange.index());
    WindowOptions options;
    options.lookahead = test::lookahead;
    options.width = width;
    WindowLoop loop(options, part.local, owner, exchange);
    auto const outcome = loop.run();
    return {part.digest(), outcome};
}

LpGraph ring() {
    LpGraph graph;
    for (std::uint32_t lp = 0; lp < test::lp_count; ++lp) {
        graph.weight.push_back(1);
        graph.block.push_back(lp / 8);
        graph.edges.push_back({LpId(lp), LpId((lp + 1) % test::lp_count), test::lookahead, 1});
    }
    return graph;
}

TEST(MpiEngine, OneDigestForEverySchedulePartitionAndWidth) {
    LocalExchange alone;
    auto const reference = simulate(alone, std::vector<std::uint32_t>(test::lp_count, 0), Time{});
    for (auto const schedule : {MpiSchedule::automatic, MpiSchedule::fused, MpiSchedule::collective}) {
        auto const exchange = make_exchange(world(), schedule);
        for (auto const& method : partition_methods())
            for (auto const width : {test::lookahead, Time::from_ps(1'000)}) {
                PartitionOptions options;
                options.method = method;
                options.processes = world().count();
                auto const owner =
                    make_partition(ring(), options, [](LpId lp) { return std::to_string(lp.value()); }).owner;
                auto const mine = simulate(*exchange, owner, width);
                auto const words = world().sum(std::vector{mine.digest.low, mine.digest.high});
                EXPECT_EQ((Digest{words[0], words[1]}).hex(), reference.digest.hex()) << method << width.ps();
                EXPECT_EQ(mine.outcome.events, reference.outcome.events);
                EXPECT_EQ(mine.outcome.last, reference.outcome.last);
                if (width == test::lookahead) {
                    EXPECT_EQ(mine.outcome.windows, reference.outcome.windows);
                }
            }
    }
}

TEST(MpiEngine, AllLpsOnTheLastProcessIsTheSame) {
    LocalExchange alone;
    auto const reference = simulate(alone, std::vector<std::uint32_t>(test::lp_count, 0), Time{});
    auto const exchange = make_exchange(world());
    auto const mine = simulate(*exchange, std::vector<std::uint32_t>(test::lp_count, world().count() - 1), Time{});
    auto const words = world().sum(std::vector{mine.digest.low, mine.digest.high});
    EXPECT_EQ((Digest{words[0], words[1]}), reference.digest);
}

TEST(MpiEngine, AnErrorOnOneProcessEndsAllWithItsMessage) {
    for (auto const schedule : {MpiSchedule::fused, MpiSchedule::collective}) {
        auto const exchange = make_exchange(world(), schedule);
        auto const n = world().count(), me = world().index();
        Time const step = Time::from_ps(1'000);
        test::SimpleLp lp([&](Outbox& out) { out.schedule(step, 0, {}); },
                          [&](Event const& event, Outbox& out) {
                              if (me == n - 1 && event.when == step * 20)
                                  throw IncompleteError("rank 5 waits for rank 6");
                              out.send(LpId((me + 1) % n), event.when + step, 0, {});
                          });
        std::vector<std::uint32_t> owner(n);
        for (std::uint32_t i = 0; i < n; ++i) owner[i] = i;
        WindowOptions options;
        options.lookahead = step;
        WindowLoop loop(options, {{LpId(me), &lp}}, owner, *exchange);
        std::string message;
        try {
            loop.run();
        } catch (IncompleteError const& error) {
            message = error.what();
        }
        EXPECT_EQ(message, "rank 5 waits for rank 6");
    }
}

}  // namespace
}  // namespace orrery
