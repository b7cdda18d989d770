// SPDX-License-Identifier: Apache-2.0
// Names of operations and algorithms: ours, NCCL's and HCCL's, and what is refused.
#include "core/check.hpp"
#include "tests/workloads/collective_shapes.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::shape_of;

std::string refusal(auto const& call) {
    try {
        call();
    } catch (InputError const& error) {
        return error.what();
    }
    return "accepted";
}

TEST(CollectiveNames, OperationsAsEverybodyWritesThem) {
    EXPECT_EQ(collective_op_of("all_reduce"), CollectiveOp::all_reduce);
    EXPECT_EQ(collective_op_of("AllReduce"), CollectiveOp::all_reduce);
    EXPECT_EQ(collective_op_of("ALLTOALL"), CollectiveOp::all_to_all);
    EXPECT_EQ(collective_op_of("sendrecv"), CollectiveOp::send_recv);
    EXPECT_EQ(
        refusal([] { collective_op_of("all-redcue"); }),
        "the operation is 'all-redcue' (no such collective); did you mean 'all-reduce', 'all-gather' or 'all-to-all'?");
}

TEST(CollectiveNames, AlgorithmsByTheNamesOfBothLibraries) {
    EXPECT_EQ(collective_algorithm("NVLS").name, "in_switch");
    EXPECT_EQ(collective_algorithm("tree").name, "double_binary_tree");
    EXPECT_EQ(collective_algorithm("H-D_R").name, "halving_doubling");
    EXPECT_EQ(collective_algorithm("NB").name, "bruck");
    EXPECT_EQ(collective_algorithm("AHC").name, "unequal_hierarchical");
    EXPECT_EQ(collective_algorithm("double ring").name, "double_ring");
    EXPECT_EQ(refusal([] { collective_algorithm("rign"); }),
              "the algorithm is 'rign' (no such collective algorithm); did you mean 'ring', 'bruck' or 'nhr'?");
}

TEST(CollectiveNames, LevelsOfAHierarchy) {
    auto const shape = shape_of(CollectiveOp::all_reduce, 16, 1600, 4);
    auto steps = [&](std::string_view name) { return plan_collective(name, shape)->steps(); };
    EXPECT_EQ(steps("hierarchical:direct,nhr"), 1 + 2 * 2 + 1);
    EXPECT_EQ(steps("hierarchical:ring,ring"), 3 + (1 + 2 * 1 + 1) + 3);  // two nodes per pod: a level of its own
    EXPECT_EQ(steps("level0:Mesh;level1:H-D_R"), steps("hierarchical:direct,halving_doubling"));
    EXPECT_EQ(refusal([&] { steps("level1:ring"); }),
              "the algorithm is 'level1:ring' (levels are counted from level0 up); write level0:NAME where it says "
              "'level1:ring'");
}

TEST(CollectiveNames, WhatAnAlgorithmCannotDoIsSaidWithThoseThatCan) {
    EXPECT_EQ(refusal([] { plan_collective("pairwise", shape_of(CollectiveOp::barrier, 4, 0)); }),
              "algorithm pairwise cannot carry out barrier of 4 members (it is made for other operations); these can: "
              "binomial_tree, dissemination");
    EXPECT_EQ(
        refusal([] { plan_collective("hierarchical", shape_of(CollectiveOp::all_reduce, 5, 8, 3)); }),
        "algorithm hierarchical cannot carry out all-reduce of 5 members (it needs nodes of one size; node 0 has 3 "
        "members, node 1 has 2); these can: binomial_tree, bruck, direct, double_binary_tree, double_ring, "
        "halving_doubling, nhr, ring, unequal_hierarchical");
}

}  // namespace
}  // namespace orrery
