// SPDX-License-Identifier: Apache-2.0
// Exchanges by pull, over several domains, that cannot finish; what is conserved in all of them.
#include "core/random.hpp"
#include "tests/netmodels/exchange_testing.hpp"

namespace orrery::testing {
namespace {

constexpr Time way = 1_us;

ExchangePlan pull_plan() {
    auto plan = push_plan();
    plan.style = ExchangeStyle::pull;
    plan.loop = ExchangeLoop::prepared;
    return plan;
}

TEST(ExchangePull, ReadsFollowTheBarrier) {
    auto plan = pull_plan();
    plan.per_message = 2_us;
    plan.per_peer = 3_us;
    plan.cores = 4;
    OneExchange const run({.fabric = single_switch(2), .plan = plan, .matrix = {{0, 8}, {0, 0}}});
    // Member 0 prepares for 2 rounds of 2 us; its announcement costs 3 us and the way. Member 1 reads 8 messages;
    // a request went out and the data came back. Member 0 reads nothing: the barrier is all there is.
    expect_time(run.done(1), 10_us + 4_us + 3_us + way + 8_us + 2 * way + 8_us);
    EXPECT_EQ(run.done(0), 10_us + std::max(4_us, 3_us + way) + 8_us);
}

TEST(ExchangePull, NobodyReadsBeforeTheLastAnnouncement) {
    OneExchange const run({.fabric = single_switch(3),
                           .plan = pull_plan(),
                           .matrix = {{0, 5, 5}, {0, 0, 0}, {0, 0, 0}},
                           .starts = {0_us, 0_us, 200_us}});
    // Member 2 knows of itself at once and reads first, member 1 joins a way later: 10 us of data on member 0's port.
    expect_time(run.done(1), 210_us + 10_us + 2 * way + 8_us);
    EXPECT_GE(run.done(0), 210_us);
    EXPECT_EQ(run.posters[0]->last_peer_start, 200_us);
}

TEST(ExchangePull, WithoutMessagesTheBarrierRemains) {
    OneExchange const run({.fabric = single_switch(4), .plan = pull_plan(), .matrix = nothing(4)});
    for (std::uint32_t m = 0; m < 4; ++m) EXPECT_EQ(run.done(m), 10_us + way + 8_us);
    EXPECT_EQ(run.flows, 0);
}

// Two super-nodes of two packages of two dies.
scenario::FabricSpec small_pod(std::uint32_t supernodes) {
    scenario::CloudMatrix384 spec;
    spec.set_supernodes(supernodes);
    spec.set_nodes(1);
    spec.set_npus_per_node(2);
    return cloudmatrix(spec);
}

TEST(ExchangeDomains, EveryPairIsCarriedOnceByItsDomain) {
    for (auto const& plan : {push_plan(), pull_plan()}) {
        auto const matrix = everyone(8, 3);
        OneExchange const run({.fabric = small_pod(2), .plan = plan, .matrix = matrix});
        ASSERT_GE(run.domains.size(), 3U);  // a UB plane per super-node, and RDMA
        EXPECT_EQ(run.flows, 56);
        EXPECT_EQ(run.injected, 56 * 3 * 35'000);
        EXPECT_EQ(run.delivered, run.injected);
        for (std::uint32_t m = 0; m < 8; ++m)
            EXPECT_EQ(run.posters[m]->parts_done, run.layout().domains_of(m).size()) << "member " << m;
        EXPECT_EQ(run.rows.collectives.size(), run.domains.size());
        std::int64_t payload = 0;
        for (auto const& row : run.rows.collectives) payload += row.payload_bytes;
        EXPECT_EQ(payload, run.injected);
        EXPECT_EQ(run.traffic.opened, run.traffic.closed);
    }
}

// On the scale-out plane a member has no pair with its own super-node, and still cannot read before all have come.
TEST(ExchangeDomains, ALateNeighbourHoldsUpAPull) {
    auto starts = std::vector<Time>(8, Time{});
    starts[1] = 300_us;
    OneExchange const run({.fabric = small_pod(2), .plan = pull_plan(), .matrix = everyone(8, 3), .starts = starts});
    for (std::uint32_t m = 0; m < 8; ++m) {
        EXPECT_GE(run.done(m), 310_us + 8_us) << "member " << m;
        EXPECT_EQ(run.posters[m]->last_peer_start, 300_us);
    }
    EXPECT_EQ(run.delivered, run.injected);
}

TEST(ExchangeDomains, TheScaleOutPlaneIsTheSlowOne) {
    OneExchange const run({.fabric = small_pod(2), .plan = push_plan(), .matrix = everyone(8, 40)});
    // 4 peers x 40 messages x 50 kB over 200 Gb/s at 93 %, 5 us away.
    auto const rate = Rate::from_bits_per_s(186'000'000'000);
    for (std::uint32_t m = 0; m < 8; ++m)
        expect_time(run.done(m), 10_us + transfer_time(160 * 50'000, rate) + 5_us + 8_us, 100_ps);
}

TEST(ExchangeDomains, TwoDiesOfOnePackage) {
    OneExchange const run({.fabric = small_pod(1), .plan = push_plan(), .matrix = {{4, 10}, {20, 4}}});
    // SIO: 270 GB/s, 200 ns.
    expect_time(run.done(0), 10_us + transfer_time(20 * 50'000, 270_GBps) + 200_ns + 8_us);
    EXPECT_EQ(run.delivered, 30 * 35'000);
}

TEST(ExchangeDomains, AGroupNeedNotStartAtRankZero) {
    OneExchange const run({.fabric = small_pod(1), .plan = push_plan(), .matrix = {{0, 10}, {20, 0}}, .first = 2});
    expect_time(run.done(0), 10_us + transfer_time(20 * 50'000, 270_GBps) + 200_ns + 8_us);
    ASSERT_EQ(run.rows.pairs.size(), 2U);
    EXPECT_EQ(run.rows.pairs[0].source, 2U);
    EXPECT_EQ(run.rows.pairs[0].target, 3U);
    EXPECT_EQ(run.rows.pairs[0].dispatch_bytes, 10 * 35'000);
    EXPECT_EQ(run.rows.pairs[0].combine_bytes, 0);
}

TEST(ExchangeStuck, NamesWhoNeverCame) {
    auto starts = std::vector<Time>(5, Time{});
    starts[3] = Time::infinity();
    for (auto const& plan : {push_plan(), pull_plan()}) {
        OneExchange const run({.fabric = single_switch(5), .plan = plan, .matrix = everyone(5, 1), .starts = starts});
        auto const stuck = run.exchanges.front()->stuck();
        ASSERT_EQ(stuck.size(), 1U);
        EXPECT_EQ(stuck[0].missing, (std::vector<std::uint32_t>{3}));
        EXPECT_EQ(stuck[0].waiting, (std::vector<std::uint32_t>{0, 1, 2, 4}));
        EXPECT_TRUE(stuck[0].starved.empty());
        EXPECT_EQ(stuck[0].key.layer, 3U);
        for (auto const& poster : run.posters) EXPECT_EQ(poster->parts_done, 0U);
        EXPECT_TRUE(run.rows.collectives.empty());
        EXPECT_EQ(run.traffic.closed, 0);
    }
}

TEST(ExchangeStuck, NothingIsStuckAtTheEnd) {
    OneExchange const run({.fabric = single_switch(5), .plan = push_plan(), .matrix = everyone(5, 1)});
    EXPECT_TRUE(run.exchanges.front()->stuck().empty());
}

// Random sparse traffic on fabrics of every kind, in both styles and both network models.
class ExchangeConservation : public ::testing::TestWithParam<int> {};

TEST_P(ExchangeConservation, BytesAreWhatTheMatrixSays) {
    RandomSequence random(static_cast<std::uint64_t>(GetParam()), RandomStream::test, 0);
    auto const draw = [&](std::uint32_t below) { return random.below(below); };
    std::vector<scenario::FabricSpec> const fabrics = {single_switch(9), small_pod(3), leaf_spine()};
    auto const& fabric = fabrics[draw(3)];
    auto const members = 2 + draw(7);
    auto matrix = nothing(members);
    std::vector<Time> starts;
    for (auto& row : matrix) {
        for (auto& count : row) count = draw(3) == 0 ? 0 : draw(50);
        starts.push_back(1_us * draw(60));
    }
    auto plan = draw(2) == 0 ? push_plan() : pull_plan();
    plan.per_message = 100_ns * draw(20);
    plan.per_peer = 100_ns * draw(20);
    plan.cores = 1 + draw(6);
    auto const network = std::array{Network::analytic, Network::flow, Network::delayed}[draw(3)];
    std::int64_t const error_ppm = draw(2) == 0 ? 0 : 50'000;
    OneExchange const run({.fabric = fabric,
                           .plan = plan,
                           .matrix = matrix,
                           .starts = starts,
                           .network = network,
                           .error_ppm = error_ppm});

    EXPECT_EQ(run.injected, off_diagonal(matrix) * plan.message_bytes);
    EXPECT_EQ(run.delivered, run.injected);
    std::int64_t flows = 0, in_pairs = 0;
    for (std::uint32_t s = 0; s < members; ++s)
        for (std::uint32_t t = 0; t < members; ++t) flows += s != t && matrix[s][t] > 0 ? 1 : 0;
    EXPECT_EQ(run.flows, flows);
    for (auto const& pair : run.rows.pairs) {
        EXPECT_EQ(pair.dispatch_bytes, matrix[pair.source][pair.target] * plan.message_bytes);
        in_pairs += pair.dispatch_bytes;
    }
    EXPECT_EQ(in_pairs, run.injected);

    // Wire bytes: every hop of every pair, and the time bins add up to them.
    std::vector<std::int64_t> wire(run.fabric().bundles().size(), 0), binned(wire.size(), 0), transfers(wire.size(), 0);
    for (std::uint32_t s = 0; s < members; ++s)
        for (std::uint32_t t = 0; t < members; ++t) {
            if (s == t || matrix[s][t] == 0) continue;
            auto const route = run.fabric().route(RankId{s}, RankId{t});
            for (auto const hop : route.bundles()) {
                wire[hop.index()] += matrix[s][t] * plan.wire_bytes;
                ++transfers[hop.index()];
            }
        }
    EXPECT_EQ(run.bundle_bytes(), wire);
    for (auto const& bin : run.rows.bins) binned[bin.bundle] += bin.wire_bytes;
    for (std::size_t b = 0; b < wire.size(); ++b) {
        // The flow model integrates rates: a transfer ends within a picosecond of its last byte, and only bundles that
        // may bind are in its equations.
        if (binned[b] == 0 && network != Network::analytic) continue;
        auto const slack = network == Network::analytic ? 0 : transfers[b] + 1;
        EXPECT_NEAR(static_cast<double>(binned[b]), static_cast<double>(wire[b]), static_cast<double>(slack))
            << run.fabric().bundle_name(BundleId{static_cast<std::uint32_t>(b)});
    }
}

INSTANTIATE_TEST_SUITE_P(Random, ExchangeConservation, ::testing::Range(0, 60));

}  // namespace
}  // namespace orrery::testing
