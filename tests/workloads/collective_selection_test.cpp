// SPDX-License-Identifier: Apache-2.0
// Which algorithm is taken when none is named.
#include "tests/workloads/collective_shapes.hpp"
#include "workloads/collectives/selection.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::shape_of;
using namespace literals;
using Op = CollectiveOp;

std::string hccl(Op op, std::uint32_t members, std::uint32_t per_node) {
    return hccl_choice(shape_of(op, members, 1 << 20, per_node)).algorithm;
}

TEST(CollectiveSelection, HcclByServers) {
    EXPECT_EQ(hccl(Op::all_reduce, 8, 0), "direct");
    EXPECT_EQ(hccl(Op::all_reduce, 64, 8), "hierarchical:direct,halving_doubling");
    EXPECT_EQ(hccl(Op::all_reduce, 48, 8), "hierarchical:direct,ring");
    EXPECT_EQ(hccl(Op::all_reduce, 96, 8), "hierarchical:direct,nhr");
    EXPECT_EQ(hccl(Op::all_reduce, 12, 1), "nhr");
    EXPECT_EQ(hccl(Op::all_reduce, 20, 8), "unequal_hierarchical");
    EXPECT_EQ(hccl(Op::all_gather, 20, 8), "nhr");
    EXPECT_EQ(hccl(Op::all_to_all, 64, 8), "pairwise");
    EXPECT_EQ(hccl(Op::all_to_all, 8, 0), "direct");
    EXPECT_EQ(hccl(Op::barrier, 8, 0), "binomial_tree");
    EXPECT_EQ(hccl(Op::send_recv, 8, 0), "direct");
}

// A choice is worth something only if it can be carried out.
TEST(CollectiveSelection, EveryChoiceHasAPlan) {
    for (int op = 0; op < collective_op_count; ++op)
        for (std::uint32_t members : {1U, 2U, 7U, 16U, 24U})
            for (std::uint32_t per_node : {0U, 1U, 5U, 8U}) {
                auto const shape = shape_of(static_cast<Op>(op), members, 4096, per_node);
                EXPECT_NO_THROW(plan_collective(hccl_choice(shape).algorithm, shape)) << name_of(shape.op) << members;
                EXPECT_NO_THROW(plan_collective(least_closed_form(shape, 1_us, 50_GBps).algorithm, shape));
            }
}

// Few steps for small data, few bytes for large.
TEST(CollectiveSelection, TheClosedFormDecidesBySize) {
    auto least = [](Op op, std::int64_t bytes) {
        return least_closed_form(shape_of(op, 64, bytes), 2_us, 50_GBps).algorithm;
    };
    EXPECT_EQ(least(Op::broadcast, 8), "direct");
    EXPECT_EQ(least(Op::broadcast, 1 << 20), "binomial_tree");
    EXPECT_EQ(least(Op::all_reduce, 64 << 20), "direct");
}

}  // namespace
}  // namespace orrery
