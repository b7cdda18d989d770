// SPDX-License-Identifier: Apache-2.0
// Routing matrices: every message is counted once, at the right place, however often the matrix is built.
#include "core/check.hpp"
#include "tests/workloads/shared_data.hpp"
#include "workloads/moe/matrix_builder.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <set>

namespace orrery {
namespace {

struct Case {
    std::unique_ptr<RoutingSource> source;
    std::unique_ptr<Placement> placement;
    MatrixShape shape;
    MatrixBuilder builder() const { return MatrixBuilder(*source, *placement, shape); }
};

Case make_case(char const* source, char const* placement, std::uint32_t ep, std::uint32_t redundant,
               std::uint32_t shared, std::uint32_t tokens, std::uint32_t microbatches = 1) {
    RoutingSetup routing;
    routing.source = source;
    routing.zipf_s = 0.7;
    routing.experts = 256;
    routing.top_k = 8;
    routing.moe_layers = 3;
    PlacementSetup place;
    place.kind = placement;
    place.experts = 256;
    place.redundant = redundant;
    place.shared_copies = shared;
    place.ep = ep;
    place.moe_layers = 3;
    Case made{make_routing_source(routing), nullptr, {tokens, microbatches, 8}};
    made.placement = std::make_unique<Placement>(make_placement(place, *made.source));
    return made;
}

void expect_conserved(RoutingMatrix const& matrix, std::uint32_t messages_per_rank) {
    std::vector<std::uint32_t> columns(matrix.ep, 0);
    for (std::uint32_t source = 0; source < matrix.ep; ++source) {
        std::uint32_t row = 0;
        for (std::uint32_t target = 0; target < matrix.ep; ++target) {
            row += matrix.messages(source, target);
            columns[target] += matrix.messages(source, target);
        }
        EXPECT_EQ(row, messages_per_rank) << "row " << source;
    }
    EXPECT_EQ(columns, matrix.received);
    for (std::uint32_t target = 0; target < matrix.ep; ++target) {
        auto const first = matrix.slot_tokens.begin() + static_cast<std::ptrdiff_t>(target * matrix.slots_per_rank);
        auto const last = first + static_cast<std::ptrdiff_t>(matrix.slots_per_rank);
        EXPECT_EQ(std::accumulate(first, last, 0U), matrix.received[target]);
        EXPECT_EQ(static_cast<std::uint32_t>(std::count_if(first, last, [](std::uint32_t n) { return n > 0; })),
                  matrix.active_experts[target]);
    }
}

TEST(Matrix, CountsEveryMessageOnce) {
    RoutingMatrix matrix;
    for (char const* source : {"uniform", "zipf"})
        for (char const* placement : {"contiguous", "eplb"}) {
            Case const decode = make_case(source, placement, 320, 32, 32, 48);
            decode.builder().build(0, 1, 0, matrix);
            EXPECT_EQ(matrix.ep, 320U);
            expect_conserved(matrix, 48 * 9);
            Case const prefill = make_case(source, placement, 32, 32, 0, 100, 2);
            prefill.builder().build(3, 2, 1, matrix);
            EXPECT_EQ(matrix.slots_per_rank, 9U);
            expect_conserved(matrix, 100 * 8);
        }
}

TEST(Matrix, IsTheSameWheneverItIsBuilt) {
    Case const made = make_case("zipf", "eplb", 32, 32, 32, 50, 2);
    RoutingMatrix fresh, reused;
    made.builder().build(1, 2, 1, fresh);
    made.builder().build(0, 0, 0, reused);
    EXPECT_NE(fresh.count, reused.count);
    made.builder().build(1, 2, 1, reused);
    EXPECT_EQ(fresh.count, reused.count);
    EXPECT_EQ(fresh.slot_tokens, reused.slot_tokens);
    EXPECT_EQ(fresh.received, reused.received);
    EXPECT_EQ(fresh.active_experts, reused.active_experts);
}

TEST(Matrix, FollowsRoutingAndPlacementTokenByToken) {
    // No replicas: the target of a message follows from the choice alone.
    Case const made = make_case("zipf", "contiguous", 64, 0, 0, 20, 2);
    MatrixBuilder const builder = made.builder();
    RoutingMatrix matrix;
    builder.build(2, 1, 1, matrix);
    std::vector<std::uint16_t> row(64, 0), experts(8);
    for (std::uint32_t index = 0; index < 20; ++index) {
        made.source->choose(1, builder.token_id(2, 17, 1, index), experts);
        for (std::uint16_t const expert : experts) ++row[expert / 4];
    }
    for (std::uint32_t target = 0; target < 64; ++target) EXPECT_EQ(matrix.messages(17, target), row[target]);
}

TEST(Matrix, TokensHaveDifferentNumbersEverywhere) {
    Case const made = make_case("uniform", "contiguous", 4, 0, 0, 5, 3);
    MatrixBuilder const builder = made.builder();
    std::set<std::uint64_t> seen;
    for (std::uint32_t group = 0; group < 3; ++group)
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            for (std::uint32_t microbatch = 0; microbatch < 3; ++microbatch)
                for (std::uint32_t index = 0; index < 5; ++index)
                    EXPECT_TRUE(seen.insert(builder.token_id(group, rank, microbatch, index)).second);
    EXPECT_EQ(*seen.rbegin(), 3U * 4 * 3 * 5 - 1);  // and they are dense
}

TEST(Matrix, ReplicasOfAnExpertShareItsTokens) {
    Case const made = make_case("zipf", "eplb", 32, 64, 0, 2000);
    RoutingMatrix matrix;
    made.builder().build(0, 0, 0, matrix);
    LayerPlacement const& where = made.placement->layer(0);
    int replicated = 0;
    for (std::uint32_t expert = 0; expert < 256; ++expert) {
        std::uint32_t const first = where.first_replica[expert];
        std::uint32_t const copies = where.first_replica[expert + 1] - first;
        if (copies == 1) continue;
        ++replicated;
        double total = 0;
        for (std::uint32_t i = 0; i < copies; ++i) total += matrix.slot_tokens[where.replicas[first + i].slot];
        double const share = total / copies;
        for (std::uint32_t i = 0; i < copies; ++i)
            EXPECT_NEAR(matrix.slot_tokens[where.replicas[first + i].slot], share, 5 * std::sqrt(share)) << expert;
    }
    EXPECT_GT(replicated, 10);
}

TEST(Matrix, SharedCopiesServeTheirRanksAlike) {
    Case const made = make_case("uniform", "contiguous", 320, 32, 32, 48);
    RoutingMatrix matrix;
    made.builder().build(0, 0, 0, matrix);
    for (Replica const shared : made.placement->layer(0).shared) EXPECT_EQ(matrix.slot_tokens[shared.slot], 10U * 48);
}

TEST(Matrix, CountsMoreMessagesThanSixteenBitsHold) {
    // One rank holds everything: 9000 tokens x 8 messages to itself.
    Case const made = make_case("uniform", "contiguous", 1, 0, 0, 9000);
    RoutingMatrix matrix;
    made.builder().build(0, 0, 0, matrix);
    EXPECT_EQ(matrix.messages(0, 0), 72'000U);
    EXPECT_EQ(matrix.received[0], 72'000U);
}

}  // namespace
}  // namespace orrery
