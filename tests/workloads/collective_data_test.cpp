// SPDX-License-Identifier: Apache-2.0
// Every algorithm gives the right result: the data of every operation is replayed on sets.
#include "tests/workloads/collective_replay.hpp"
#include "tests/workloads/collective_shapes.hpp"

namespace orrery {
namespace {

using testing::CollectiveReplay;
using testing::shape_of;

// How many shapes an algorithm was tried on.
int replay_all(CollectiveAlgorithm const& algorithm, std::uint32_t members, std::uint32_t per_node,
               std::uint32_t chunks) {
    int tried = 0;
    for (auto const op : algorithm.ops) {
        if (chunks > 1 && (op == CollectiveOp::all_to_all_v || op == CollectiveOp::barrier)) continue;
        // Uneven: no number of members but 1 and 3 divides it.
        auto shape = shape_of(op, members, op == CollectiveOp::barrier ? 0 : 3 * 1009, per_node);
        shape.root = members / 3;
        shape.chunks = chunks;
        if (!algorithm.refuses(shape).empty()) continue;
        auto const plan = plan_collective(algorithm.name, shape);
        CollectiveReplay replay(*plan);
        replay.run();
        EXPECT_EQ(replay.wrong(), "") << algorithm.name << ' ' << name_of(op) << " of " << members << ", " << per_node
                                      << " per node, " << chunks << " chunks";
        ++tried;
    }
    return tried;
}

class CollectiveData : public ::testing::TestWithParam<CollectiveAlgorithm const*> {};

TEST_P(CollectiveData, IsRightForEveryNumberOfMembers) {
    int tried = 0;
    for (std::uint32_t members = 1; members <= 33; ++members) tried += replay_all(*GetParam(), members, 0, 1);
    for (std::uint32_t members : {47U, 64U, 65U}) tried += replay_all(*GetParam(), members, 0, 1);
    for (std::uint32_t members = 2; members <= 16; ++members)
        for (std::uint32_t per_node = 1; per_node < members; ++per_node)
            tried += replay_all(*GetParam(), members, per_node, 1);
    EXPECT_GT(tried, 20);
}

TEST_P(CollectiveData, IsRightInChunks) {
    int tried = 0;
    for (std::uint32_t members : {1U, 2U, 5U, 8U, 13U})
        for (std::uint32_t per_node : {0U, 2U, 4U}) tried += replay_all(*GetParam(), members, per_node, 7);
    bool const only_barrier = GetParam()->ops == std::vector{CollectiveOp::barrier};
    EXPECT_EQ(tried == 0, only_barrier);
}

// A prime number of members, and a power of two in nodes of eight: every message that is sent is expected.
TEST_P(CollectiveData, ManyMembersExpectWhatIsSent) {
    for (std::uint32_t members : {1021U, 1024U}) {
        auto const shape = shape_of(GetParam()->ops.front(), members, 1'000'003, members == 1024 ? 8 : 0);
        if (!GetParam()->refuses(shape).empty()) continue;
        auto const plan = plan_collective(GetParam()->name, shape);
        std::vector<std::uint32_t> received;
        SendList list;
        for (std::uint32_t lane = 0; lane < plan->lanes(); ++lane)
            for (std::uint32_t step = 0; step < plan->steps(); ++step) {
                received.assign(members, 0);
                for (std::uint32_t member = 0; member < members; ++member) {
                    list.clear();
                    plan->sends(member, lane, step, list);
                    for (auto const& send : list.sends()) ++received[send.peer];
                }
                for (std::uint32_t member = 0; member < members; ++member)
                    ASSERT_EQ(received[member], plan->receives(member, lane, step))
                        << GetParam()->name << " of " << members << ", member " << member << ", step " << step;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveData, ::testing::ValuesIn(collective_algorithms()),
                         [](auto const& param) { return param.param->name; });

// The replay finds a fault: a ring that stops one step early leaves contributions missing.
TEST(CollectiveReplayTest, AMissingStepIsFound) {
    class ShortRing final : public CollectivePlan {
      public:
        explicit ShortRing(std::unique_ptr<CollectivePlan> ring)
            : CollectivePlan(ring->shape()), ring_(std::move(ring)) {}
        std::uint32_t steps() const override { return ring_->steps() - 1; }
        void sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const override {
            ring_->sends(member, lane, step, out);
        }
        std::uint32_t receives(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const override {
            return ring_->receives(member, lane, step);
        }
        std::uint64_t blocks() const override { return ring_->blocks(); }
        std::int64_t block_bytes(std::uint64_t block) const override { return ring_->block_bytes(block); }
        ClosedForm closed_form() const override { return ring_->closed_form(); }

      private:
        std::unique_ptr<CollectivePlan> ring_;
    };
    ShortRing const plan(plan_collective("ring", shape_of(CollectiveOp::all_reduce, 4, 400)));
    CollectiveReplay replay(plan);
    replay.run();
    EXPECT_EQ(replay.wrong(), "member 0 block 1: contribution of 1 is missing");
}

}  // namespace
}  // namespace orrery
