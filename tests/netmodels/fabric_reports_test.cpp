// SPDX-License-Identifier: Apache-2.0
// What users of other tools reported about topologies, with the answers that are right.
#include "tests/netmodels/engine_testing.hpp"
#include "tests/netmodels/fabric_testing.hpp"

#include <cmath>

namespace orrery::testing {
namespace {

constexpr std::int64_t megabyte = 1'000'000;

std::vector<Time> flows(Fabric const& fabric, std::vector<Transfer> const& transfers) {
    DomainMap const map(fabric);
    FlowEngine engine(fabric, map, DomainId{0}, FlowEngine::Settings{}, 1_ms);
    return drive(engine, fabric, transfers);
}

// Four hosts on each side of four parallel links of 100 Gb/s, one transfer of 100 MB each: HPCC's reader keeps one
// link.
TEST(Reported, ParallelLinksCarryEachTheirShare) {
    auto const wires = std::vector<Wire>{{"h0..3", "s0", 100}, {"h4..7", "s1", 100}, {"s0", "s1", 100, 4}};
    std::vector<Transfer> const transfers{
        {{}, 0, 4, 100 * megabyte}, {{}, 1, 5, 100 * megabyte}, {{}, 2, 6, 100 * megabyte}, {{}, 3, 7, 100 * megabyte}};
    for (auto const done : flows(*make_fabric(graph(8, {{"s", 2}}, wires), 1), transfers)) EXPECT_EQ(done, 8_ms);
    // Hashed, k transfers on one link take k times as long.
    auto const hashed = make_fabric(graph(8, {{"s", 2}}, wires, "ecmp"), 1);
    std::map<BundleId, int> sharing;
    for (std::uint32_t h = 0; h < 4; ++h) ++sharing[hashed->route(RankId{h}, RankId{h + 4}).hops[1]];
    auto const done = flows(*hashed, transfers);
    for (std::uint32_t h = 0; h < 4; ++h)
        expect_time(done[h], (8_ms) * sharing[hashed->route(RankId{h}, RankId{h + 4}).hops[1]]);
}

// Two jobs of two hosts each over one link of 100 Gb/s: half of it each.
TEST(Reported, JobsShareTheLinkBetweenThem) {
    auto const fabric =
        make_fabric(graph(4, {{"s", 2}}, {{"h0..1", "s0", 100}, {"h2..3", "s1", 100}, {"s0", "s1", 100}}), 1);
    for (auto const done : flows(*fabric, {{{}, 0, 2, 100 * megabyte}, {{}, 1, 3, 100 * megabyte}}))
        EXPECT_EQ(done, 16_ms);
    EXPECT_EQ(flows(*fabric, {{{}, 0, 2, 100 * megabyte}})[0], 8_ms);
}

// Each to its neighbour over links of 5 Mb/s: the time does not depend on how many there are.
TEST(Reported, NoNumberOfHostsMakesTrafficFree) {
    for (std::uint32_t const hosts : {2U, 10U, 11U, 64U}) {
        auto spec = single_switch(hosts);
        spec.mutable_single_switch()->set_host_rate(5'000'000);
        std::vector<Transfer> transfers;
        for (std::uint32_t h = 0; h < hosts; ++h) transfers.push_back({{}, h, (h + 1) % hosts, megabyte});
        for (auto const done : flows(*make_fabric(spec, 1), transfers)) EXPECT_EQ(done, 1600_ms) << hosts;
    }
}

// Eight transfers hashed over eight uplinks: all apart in 0.24 % of cases, 5.25 links in use on average.
TEST(Reported, HashingLeavesLinksOfANonBlockingFabricIdle) {
    scenario::LeafSpine given;
    given.set_hosts(16);
    given.set_load_balancing("ecmp");
    int used = 0, apart = 0;
    constexpr int seeds = 10'000;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto const fabric = make_fabric(leaf_spine(given), seed);
        std::set<BundleId> uplinks;
        for (std::uint32_t h = 0; h < 8; ++h) uplinks.insert(fabric->route(RankId{h}, RankId{h + 8}).hops[1]);
        used += static_cast<int>(uplinks.size());
        apart += uplinks.size() == 8 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(used) / seeds, 8 * (1 - std::pow(7.0 / 8, 8)), 0.05);
    EXPECT_NEAR(static_cast<double>(apart) / seeds, 0.0024, 0.0015);
}

}  // namespace
}  // namespace orrery::testing
