// SPDX-License-Identifier: Apache-2.0
// Closed forms against the plain rule on an analytic engine, and the number of steps and bytes of every algorithm.
#include "core/check.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"
#include "tests/workloads/collective_carrier.hpp"
#include "tests/workloads/collective_shapes.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

namespace orrery {
namespace {

using testing::CollectiveCarrier;
using testing::shape_of;
using namespace literals;

std::unique_ptr<Fabric> single_switch(std::uint32_t hosts) {
    scenario::FabricSpec spec;
    spec.set_kind("single_switch");
    auto* const one = spec.mutable_single_switch();
    one->set_hosts(hosts);
    one->set_host_rate((50_GBps).bits_per_s());
    one->set_link_latency((500_ns).ps());
    one->set_switch_latency((100_ns).ps());
    return make_fabric(spec, 1);
}
constexpr Time switch_latency = 1'100_ns;

// One host per leaf, so that every pair of hosts has one latency.
std::unique_ptr<Fabric> leaf_spine(std::uint32_t hosts, std::uint32_t hosts_per_leaf) {
    scenario::FabricSpec spec;
    spec.set_kind("leaf_spine");
    auto* const tree = spec.mutable_leaf_spine();
    tree->set_hosts(hosts);
    tree->set_hosts_per_leaf(hosts_per_leaf);
    tree->set_spines(4);
    tree->set_host_rate((50_GBps).bits_per_s());
    tree->set_oversubscription(1);
    tree->set_link_latency((500_ns).ps());
    tree->set_load_balancing("spray");
    return make_fabric(spec, 1);
}
constexpr Time spine_latency = 2'000_ns;

// Checks the time of a shape; a form that does not hold exactly must still be between the port's bound and itself.
void check(CollectiveAlgorithm const& algorithm, CollectiveShape const& shape, Fabric const& fabric, Time latency) {
    if (!algorithm.refuses(shape).empty()) return;
    auto const plan = plan_collective(algorithm.name, shape);
    CollectiveCarrier carrier(fabric, *plan);
    auto const time = carrier.run();
    auto const form = plan->closed_form();
    auto const what = fmt::format("{} {} of {} members, {} bytes, {} nodes, {} chunks: {}", algorithm.name,
                                  name_of(shape.op), shape.members, shape.bytes,
                                  shape.levels.empty() ? 0 : shape.levels.front().size(), shape.chunks, form.text);
    ASSERT_NE(time, Time::infinity()) << what;
    EXPECT_FALSE(form.text.empty()) << what;
    if (form.holds == ClosedForm::Holds::exactly)
        EXPECT_EQ(time.ps(), form.time(latency, 50_GBps).ps()) << what;
    else
        EXPECT_LE(time, form.time(latency, 50_GBps)) << what;
    auto const& bytes = carrier.bytes_sent();
    auto const most = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
    EXPECT_GE(time, transfer_time(most, 50_GBps)) << what;
}

constexpr std::int64_t four_gib = std::int64_t{1} << 32;

class CollectiveTime : public ::testing::TestWithParam<CollectiveAlgorithm const*> {};

TEST_P(CollectiveTime, IsTheClosedFormOnASwitch) {
    for (std::uint32_t members : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 13U, 31U, 32U}) {
        auto const fabric = single_switch(members);
        for (auto const op : GetParam()->ops)
            for (std::int64_t bytes :
                 {std::int64_t{0}, std::int64_t{8}, std::int64_t{1'000'003}, std::int64_t{members} * 65'536, four_gib})
                for (std::uint32_t per_node : {0U, 1U, 2U, 4U, 5U}) {
                    auto shape = shape_of(op, members, bytes, per_node);
                    shape.root = members / 2;
                    check(*GetParam(), shape, *fabric, switch_latency);
                }
    }
}

TEST_P(CollectiveTime, IsTheClosedFormOnALeafSpine) {
    for (std::uint32_t members : {6U, 11U, 16U}) {
        auto const fabric = leaf_spine(members, 1);
        for (auto const op : GetParam()->ops)
            for (std::uint32_t per_node : {0U, 2U}) {
                check(*GetParam(), shape_of(op, members, members * 4096, per_node), *fabric, spine_latency);
                check(*GetParam(), shape_of(op, members, 777'777, per_node), *fabric, spine_latency);
            }
    }
}

TEST_P(CollectiveTime, IsAtMostThatOfTheChunksOneByOne) {
    for (std::uint32_t members : {2U, 5U, 8U}) {
        auto const fabric = single_switch(members);
        for (auto const op : GetParam()->ops) {
            if (op == CollectiveOp::all_to_all_v || op == CollectiveOp::barrier) continue;
            for (std::uint32_t per_node : {0U, 2U}) {
                auto shape = shape_of(op, members, 8 * 5 * 65'536, per_node);
                shape.chunks = 8;
                check(*GetParam(), shape, *fabric, switch_latency);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveTime, ::testing::ValuesIn(collective_algorithms()),
                         [](auto const& param) { return param.param->name; });

Time time_of(std::string_view algorithm, CollectiveShape const& shape, Fabric const& fabric) {
    return CollectiveCarrier(fabric, *plan_collective(algorithm, shape)).run();
}

// 100 MB over 8 ranks at 50 GB/s: 2 * 7/8 * 100 MB / 50 GB/s, and the latencies of the steps.
TEST(CollectiveTimes, AllReduceOf100MbOver8Ranks) {
    auto const fabric = single_switch(8);
    auto const shape = shape_of(CollectiveOp::all_reduce, 8, 100'000'000);
    EXPECT_EQ(time_of("ring", shape, *fabric), 3'500_us + 14 * switch_latency);
    EXPECT_EQ(time_of("direct", shape, *fabric), 3'500_us + 2 * switch_latency);
    EXPECT_EQ(time_of("halving_doubling", shape, *fabric), 3'500_us + 6 * switch_latency);
}

// The slowest edge of a ring sets the pace of all: members 7 and 8 are below different leaves.
TEST(CollectiveTimes, ARingTakesTheLatencyOfItsLongestEdge) {
    auto const fabric = leaf_spine(16, 8);
    auto const time = time_of("ring", shape_of(CollectiveOp::all_gather, 16, 16 * 50'000), *fabric);
    EXPECT_EQ(time, 15 * (1_us + spine_latency));
}

// Chunks pass a chain like a pipe: n - 2 + c rounds instead of (n - 1) c.
TEST(CollectiveTimes, ChunksFollowEachOtherThroughAChain) {
    auto const fabric = single_switch(8);
    auto shape = shape_of(CollectiveOp::broadcast, 8, 16 * 50'000);
    EXPECT_EQ(time_of("ring", shape, *fabric), 7 * (16_us + switch_latency));
    shape.chunks = 16;
    EXPECT_EQ(time_of("ring", shape, *fabric), 22 * (1_us + switch_latency));
}

// astra-sim/astra-sim#150: two dimensions of 2 and 8 give the same time in either order, phase by phase.
TEST(CollectiveTimes, TheOrderOfDimensionsDoesNotMatterWithoutPipelining) {
    auto const fabric = single_switch(16);
    auto of_nodes = [&](std::uint32_t per_node) {
        auto shape = shape_of(CollectiveOp::all_reduce, 16, 16 * 1'000'000, per_node);
        shape.levels.resize(1);
        shape.level_algorithms = {"ring", "ring"};
        return time_of("hierarchical", shape, *fabric);
    };
    EXPECT_EQ(of_nodes(2), 600_us + 16 * switch_latency);  // 1.875 S/B = 30 MB / 50 GB/s
    EXPECT_EQ(of_nodes(8), of_nodes(2));
}

// How many bytes the busiest member sends, and how many steps there are.
struct Volume {
    std::string_view algorithm;
    CollectiveOp op;
    std::uint32_t members, steps;
    std::int64_t bytes;  // of 240 each
};

TEST(CollectiveTimes, StepsAndBytesPerMember) {
    using Op = CollectiveOp;
    for (auto const& v : std::vector<Volume>{{"ring", Op::all_reduce, 8, 14, 2 * 210},
                                             {"ring", Op::reduce_scatter, 8, 7, 210},
                                             {"ring", Op::all_gather, 8, 7, 210},
                                             {"double_ring", Op::all_reduce, 8, 14, 2 * 210},
                                             {"direct", Op::all_reduce, 8, 2, 2 * 210},
                                             {"direct", Op::all_to_all, 8, 1, 210},
                                             {"direct", Op::gather, 8, 1, 30},
                                             {"direct", Op::scatter, 8, 1, 210},
                                             {"direct", Op::broadcast, 8, 1, 7 * 240},
                                             {"pairwise", Op::all_to_all, 8, 7, 210},
                                             {"halving_doubling", Op::all_reduce, 8, 6, 2 * 210},
                                             {"halving_doubling", Op::all_reduce, 6, 6, 2 * 180 + 240},
                                             {"nhr", Op::all_reduce, 5, 6, 2 * 192},
                                             {"nhr", Op::all_gather, 8, 3, 210},
                                             {"bruck", Op::all_gather, 5, 3, 192},
                                             {"bruck", Op::all_to_all, 8, 3, 3 * 4 * 30},
                                             {"binomial_tree", Op::broadcast, 8, 3, 3 * 240},
                                             {"binomial_tree", Op::scatter, 8, 3, 210},
                                             {"dissemination", Op::barrier, 4, 2, 0},
                                             {"dissemination", Op::barrier, 5, 3, 0},
                                             {"double_binary_tree", Op::all_reduce, 8, 6, 2 * 240},
                                             {"in_switch", Op::all_reduce, 8, 2, 240 + 30}}) {
        auto const fabric = single_switch(v.members);
        auto const plan = plan_collective(v.algorithm, shape_of(v.op, v.members, 240));
        EXPECT_EQ(plan->steps(), v.steps) << v.algorithm << ' ' << name_of(v.op);
        CollectiveCarrier carrier(*fabric, *plan);
        carrier.run();
        EXPECT_EQ(*std::max_element(carrier.bytes_sent().begin(), carrier.bytes_sent().end()), v.bytes)
            << v.algorithm << ' ' << name_of(v.op);
    }
}

// Without forwarding, 7/8 of what leaves a node of 8 leaves on another rail than its target's; with it, nothing does.
TEST(CollectiveTimes, RailForwardingKeepsBytesOnTheirRail) {
    auto off_rail = [](std::string_view algorithm) {
        auto const plan = plan_collective(algorithm, shape_of(CollectiveOp::all_to_all, 16, 16 * 1000, 8));
        std::int64_t off = 0, across = 0;
        for (std::uint32_t step = 0; step < plan->steps(); ++step)
            for (std::uint32_t member = 0; member < 16; ++member) {
                SendList list;
                plan->sends(member, 0, step, list);
                for (auto const& send : list.sends()) {
                    if (send.peer / 8 == member / 8) continue;
                    across += send.bytes;
                    if (send.peer % 8 != member % 8) off += send.bytes;
                }
            }
        EXPECT_EQ(across, 16 * 8 * 1000);
        return off;
    };
    EXPECT_EQ(off_rail("direct"), 16 * 7 * 1000);
    EXPECT_EQ(off_rail("rail_forwarding"), 0);
}

}  // namespace
}  // namespace orrery
