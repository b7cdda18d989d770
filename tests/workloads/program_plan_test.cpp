// SPDX-License-Identifier: Apache-2.0
// The order of the two streams of a step, and what it counts.
#include "tests/workloads/program_testing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace orrery::testing {
namespace {

// "attention0 gate0 ..."
std::string text(std::span<StepOp const> ops) {
    std::string all;
    for (auto const op : ops) all += fmt::format("{}{}{}", all.empty() ? "" : " ", name_of(op.kind), op.microbatch);
    return all;
}

StepPlan plan_of(std::uint32_t microbatches, StepPlan::SharedExpert shared) {
    return StepPlan({{0, false, 100_us}, {1, true, 100_us}, {2, true, 150_us}}, microbatches, shared, costs());
}

TEST(StepPlan, OneMicrobatch) {
    auto const plan = plan_of(1, StepPlan::SharedExpert::none);
    EXPECT_EQ(text(plan.compute(plan.layers()[1])), "attention0 gate0 experts0");
    EXPECT_EQ(text(plan.communication(plan.layers()[1])), "dispatch0 combine0");
}

TEST(StepPlan, MicrobatchesInterleave) {
    auto const plan = plan_of(2, StepPlan::SharedExpert::local);
    EXPECT_EQ(text(plan.compute(plan.layers()[1])),
              "attention0 gate0 attention1 gate1 shared_expert0 shared_expert1 experts0 experts1");
    EXPECT_EQ(text(plan.communication(plan.layers()[1])), "dispatch0 dispatch1 combine0 combine1");
}

TEST(StepPlan, ADenseLayerComputesOnly) {
    auto const plan = plan_of(2, StepPlan::SharedExpert::local);
    EXPECT_EQ(text(plan.compute(plan.layers()[0])), "attention0 dense_ffn0 attention1 dense_ffn1");
    EXPECT_TRUE(plan.communication(plan.layers()[0]).empty());
}

TEST(StepPlan, CountsOperations) {
    EXPECT_EQ(plan_of(1, StepPlan::SharedExpert::none).operations_per_rank(), 2 + 2 * 5);
    EXPECT_EQ(plan_of(2, StepPlan::SharedExpert::local).operations_per_rank(), 4 + 2 * 12);
}

TEST(StepPlan, DurationsAreThoseOfTheLayer) {
    auto const plan = plan_of(1, StepPlan::SharedExpert::local);
    EXPECT_EQ(plan.duration(OpKind::attention, plan.layers()[1]), 100_us);
    EXPECT_EQ(plan.duration(OpKind::attention, plan.layers()[2]), 150_us);
    EXPECT_EQ(plan.duration(OpKind::gate, plan.layers()[2]), 10_us);
    EXPECT_EQ(plan.duration(OpKind::shared_expert, plan.layers()[2]), 40_us);
    EXPECT_EQ(plan.duration(OpKind::dense_ffn, plan.layers()[0]), 70_us);
    EXPECT_THROW(plan.duration(OpKind::experts, plan.layers()[1]), InternalError);
}

TEST(StepPlan, RefusesMoreMicrobatchesThanARankHolds) {
    EXPECT_THROW(plan_of(0, StepPlan::SharedExpert::none), InternalError);
    EXPECT_THROW(plan_of(MoeRank::most_microbatches + 1, StepPlan::SharedExpert::none), InternalError);
    EXPECT_NO_THROW(plan_of(MoeRank::most_microbatches, StepPlan::SharedExpert::none));
}

}  // namespace
}  // namespace orrery::testing
