// SPDX-License-Identifier: Apache-2.0
#include "partitions/partition.hpp"

#include "core/check.hpp"
#include "tests/core/contains.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery {
namespace {

using namespace literals;
using test::contains;

std::string name(LpId lp) {
    return "lp" + std::to_string(lp.value());
}

LpGraph line(std::vector<std::int64_t> weights, std::uint32_t block_size, Time latency = 500_ns) {
    LpGraph graph;
    graph.weight = std::move(weights);
    for (std::uint32_t lp = 0; lp < graph.size(); ++lp) {
        graph.block.push_back(lp / block_size);
        if (lp > 0) graph.edges.push_back({LpId(lp - 1), LpId(lp), latency, 1});
    }
    return graph;
}

Partition partition(LpGraph const& graph, std::uint32_t processes, std::string method = "blocks",
                    Time wanted = Time{}) {
    PartitionOptions options;
    options.method = std::move(method);
    options.processes = processes;
    options.wanted_lookahead = wanted;
    return make_partition(graph, options, name);
}

TEST(Blocks, AreContiguousAndOfEqualWeight) {
    auto const result = partition(line(std::vector<std::int64_t>(8, 1), 1), 4);
    EXPECT_EQ(result.owner, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_DOUBLE_EQ(result.report.imbalance, 1);
    EXPECT_EQ(result.report.cut_edges, 3);
}

TEST(Blocks, StayTogetherWhileBalanceAllows) {
    // 320 LPs in 20 blocks on 3 processes: 7 + 6 + 7 blocks, 5 % over the mean.
    auto const result = partition(line(std::vector<std::int64_t>(320, 1), 16), 3);
    for (std::size_t lp = 1; lp < 320; ++lp) {
        if (lp % 16 != 0) {
            EXPECT_EQ(result.owner[lp], result.owner[lp - 1]);
        }
    }
    EXPECT_NEAR(result.report.imbalance, 1.05, 1e-9);
}

TEST(Blocks, AreSplitWhenTheyAreTooFew) {
    auto const result = partition(line(std::vector<std::int64_t>(64, 1), 16), 7);  // 4 blocks on 7 processes
    EXPECT_LT(result.report.imbalance, 1.10);
    EXPECT_TRUE(std::is_sorted(result.owner.begin(), result.owner.end()));
    EXPECT_EQ(result.report.empty_processes, 0U);
}

TEST(Blocks, HeavyLpsGoFirstAndTheRestFillsUp) {
    // Two solvers of 100 and 60 beside 40 ranks of 1: both processes end at 100.
    std::vector<std::int64_t> weights(42, 1);
    weights[5] = 100;
    weights[30] = 60;
    auto const result = partition(line(weights, 1), 2);
    EXPECT_EQ(result.owner[5], 0U);
    EXPECT_EQ(result.owner[30], 1U);
    EXPECT_EQ(result.report.process_weight, (std::vector<std::int64_t>{100, 100}));
}

TEST(Partition, MoreProcessesThanLpsLeavesSomeEmpty) {
    for (auto const& method : partition_methods()) {
        auto const result = partition(line({1, 1, 1}, 1), 7, method);
        EXPECT_EQ(result.owner.size(), 3U);
        for (auto const owner : result.owner) EXPECT_LT(owner, 7U);
        EXPECT_GE(result.report.empty_processes, 4U) << method;
    }
}

TEST(Partition, OneProcessOwnsEverythingAndCutsNothing) {
    for (auto const& method : partition_methods()) {
        auto const result = partition(line({3, 1, 2}, 1, Time{}), 1, method);
        EXPECT_EQ(result.owner, (std::vector<std::uint32_t>{0, 0, 0}));
        EXPECT_EQ(result.report.lookahead, Time::infinity());
        EXPECT_TRUE(contains(result.report.text, "nothing cut"));
    }
}

TEST(Partition, ReportNamesTheEdgesThatLimitTheLookahead) {
    auto graph = line({1, 1, 1, 1}, 1, 700_ns);
    graph.edges[1].latency = 300_ns;  // lp1 - lp2, the one that two processes cut
    graph.edges[0].latency = 100_ns;  // not cut
    auto const result = partition(graph, 2);
    EXPECT_EQ(result.report.lookahead, 300_ns);
    EXPECT_EQ(result.report.cut_edges, 1);
    EXPECT_TRUE(contains(result.report.text, "lookahead limited by lp1 - lp2"));
    EXPECT_TRUE(contains(result.report.text, "300 ns"));
}

TEST(Partition, RefusesToCutAnEdgeWithoutLatencyByName) {
    try {
        partition(line({1, 1}, 1, Time{}), 2);
        FAIL() << "a zero-latency edge was cut";
    } catch (InputError const& error) {
        EXPECT_TRUE(contains(error.what(), "lp0 - lp1"));
    }
}

TEST(Partition, UnknownMethodIsAnsweredWithTheKnownOnes) {
    try {
        partition(line({1, 1}, 1), 2, "magic");
        FAIL() << "accepted";
    } catch (InputError const& error) {
        EXPECT_TRUE(contains(error.what(), "blocks, metis, random, round_robin"));
    }
}

TEST(Partition, RandomDependsOnTheSeedOnly) {
    PartitionOptions options{.method = "random", .processes = 4, .seed = 5, .wanted_lookahead = {}};
    auto const graph = line(std::vector<std::int64_t>(100, 1), 1);
    auto const first = make_partition(graph, options, name).owner;
    EXPECT_EQ(make_partition(graph, options, name).owner, first);
    options.seed = 6;
    EXPECT_NE(make_partition(graph, options, name).owner, first);
}

TEST(RoundRobin, Deals) {
    EXPECT_EQ(partition(line({1, 1, 1, 1, 1}, 1), 3, "round_robin").owner, (std::vector<std::uint32_t>{0, 1, 2, 0, 1}));
}

// A 32 x 32 torus; the best bisection cuts 64 edges.
LpGraph torus() {
    LpGraph graph;
    constexpr std::uint32_t side = 32;
    for (std::uint32_t lp = 0; lp < side * side; ++lp) {
        graph.weight.push_back(1);
        graph.block.push_back(0);
        auto const x = lp % side, y = lp / side;
        graph.edges.push_back({LpId(lp), LpId(y * side + (x + 1) % side), 1_us, 1});
        graph.edges.push_back({LpId(lp), LpId((y + 1) % side * side + x), 1_us, 1});
    }
    return graph;
}

TEST(Metis, CutsATorusNearTheBest) {
    auto const result = partition(torus(), 2, "metis");
    EXPECT_LE(result.report.cut_edges, 80);
    EXPECT_LE(result.report.imbalance, 1.05);
    EXPECT_EQ(partition(torus(), 2, "metis").owner, result.owner);
    EXPECT_GT(partition(torus(), 2, "random").report.cut_edges, 800);
}

TEST(Metis, BalancesManyParts) {
    auto const result = partition(torus(), 16, "metis");
    EXPECT_LE(result.report.imbalance, 1.06);
    EXPECT_EQ(result.report.empty_processes, 0U);
}

TEST(Metis, NeverCutsAnEdgeShorterThanTheWantedLookahead) {
    auto graph = torus();
    for (std::size_t i = 0; i < graph.edges.size(); i += 6) graph.edges[i].latency = 10_ns;
    auto const free = partition(graph, 4, "metis");
    EXPECT_EQ(free.report.lookahead, 10_ns);
    auto const kept = partition(graph, 4, "metis", 1_us);
    EXPECT_EQ(kept.report.lookahead, 1_us);
    EXPECT_LE(kept.report.imbalance, 1.10);
}

TEST(Metis, AnLpHeavierThanAFairShareSitsAlone) {
    auto graph = torus();
    graph.weight[77] = 2'000;
    auto const result = partition(graph, 3, "metis");
    for (std::size_t lp = 0; lp < graph.size(); ++lp) {
        if (lp != 77) {
            EXPECT_NE(result.owner[lp], result.owner[77]);
        }
    }
    EXPECT_EQ(result.report.empty_processes, 0U);
}

}  // namespace
}  // namespace orrery
