// SPDX-License-Identifier: Apache-2.0
// How many processes a graph of weights can use.
#include "partitions/useful_processes.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

LpGraph graph_of(std::vector<std::int64_t> weights) {
    LpGraph graph;
    graph.block.assign(weights.size(), 0);
    graph.weight = std::move(weights);
    return graph;
}

TEST(UsefulProcesses, EqualLpsUseAsManyProcessesAsThereAre) {
    EXPECT_DOUBLE_EQ(busiest_share(graph_of(std::vector<std::int64_t>(12, 5)), 4), 0.25);
    EXPECT_EQ(useful_processes(graph_of(std::vector<std::int64_t>(12, 5))), 12U);
    EXPECT_EQ(useful_processes(graph_of({7})), 1U);
}

TEST(UsefulProcesses, OneHeavyLpLimitsThem) {
    // 60 of 100 in one LP: two processes have 60 and 40, and no third can take anything from the first.
    std::vector<std::int64_t> weights(40, 1);
    weights.push_back(60);
    auto const graph = graph_of(weights);
    EXPECT_EQ(heaviest_lp(graph), LpId{40});
    EXPECT_DOUBLE_EQ(busiest_share(graph, 2), 0.6);
    EXPECT_DOUBLE_EQ(busiest_share(graph, 3), 0.6);
    EXPECT_EQ(useful_processes(graph), 2U);
    // 95 of 100: two processes save a twentieth, which is within a tenth of one.
    weights.assign(5, 1);
    weights.push_back(95);
    EXPECT_EQ(useful_processes(graph_of(weights)), 1U);
}

TEST(UsefulProcesses, MeasuredTimeReplacesThePrediction) {
    // Predicted equal; the second process was busy three times as long, so each of its LPs weighs three times as much.
    std::vector<std::uint32_t> const owner{0, 0, 1, 1};
    std::vector<double> const busy{1, 3};
    auto const graph = measured_graph(graph_of({1, 1, 1, 1}), owner, busy);
    EXPECT_EQ(graph.weight,
              (std::vector<std::int64_t>{125'000'000'000, 125'000'000'000, 375'000'000'000, 375'000'000'000}));
    EXPECT_DOUBLE_EQ(busiest_share(graph, 2), 0.5);  // one of each kind on each
    EXPECT_EQ(measured_graph(graph_of({2, 3}), std::vector<std::uint32_t>{0, 0}, std::vector<double>{0}).weight,
              (std::vector<std::int64_t>{2, 3}));
}

}  // namespace
}  // namespace orrery
