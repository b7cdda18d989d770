// SPDX-License-Identifier: Apache-2.0
// The flow engine on fabrics, against closed forms and against what others computed.
#include "tests/netmodels/engine_testing.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace orrery::testing {
namespace {

constexpr Rate port = 400_Gbps;  // of every fabric here

std::vector<Time> run(Fabric const& fabric, std::vector<Transfer> const& transfers) {
    DomainMap const map(fabric);
    FlowEngine engine(fabric, map, DomainId{0}, {}, 10_us);
    return drive(engine, fabric, transfers);
}

// Folded where transfers are alike, and one by one: the same to the picosecond.
std::vector<Time> run(scenario::FabricSpec const& spec, std::vector<Transfer> const& transfers) {
    auto const fabric = make_fabric(spec, 1);
    DomainMap const map(*fabric);
    FlowEngine one_by_one(*fabric, map, DomainId{0}, {}, 10_us);
    one_by_one.allow_folding(FlowEngine::Folds::no);
    auto const done = run(*fabric, transfers);
    EXPECT_EQ(done, drive(one_by_one, *fabric, transfers));
    return done;
}

scenario::FabricSpec leaves(std::uint32_t hosts, std::uint32_t per_leaf, double oversubscription) {
    scenario::LeafSpine given;
    given.set_hosts(hosts);
    given.set_hosts_per_leaf(per_leaf);
    given.set_spines(per_leaf);
    given.set_oversubscription(oversubscription);
    return leaf_spine(given);
}

std::vector<Transfer> all_to_all(std::uint32_t hosts, std::int64_t bytes) {
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 0; s < hosts; ++s)
        for (std::uint32_t t = 0; t < hosts; ++t)
            if (s != t) transfers.push_back({0_us, s, t, bytes});
    return transfers;
}

// Late by no more than rounding: a picosecond for the end and one for the level.
void expect_all(std::vector<Time> const& done, Time expected) {
    for (auto const when : done) expect_time(when, expected, 2_ps);
}

TEST(FlowEngineClosedForm, AllToAllOnOneSwitch) {
    for (std::uint32_t const hosts : {2U, 3U, 16U, 61U})
        expect_all(run(single_switch(hosts), all_to_all(hosts, 65'536)), transfer_time((hosts - 1) * 65'536, port));
}

TEST(FlowEngineClosedForm, IncastAndOutcast) {
    for (std::uint32_t const peers : {1U, 7U, 50U}) {
        std::vector<Transfer> in, out;
        for (std::uint32_t p = 1; p <= peers; ++p) {
            in.push_back({0_us, p, 0, 1'000'000});
            out.push_back({0_us, 0, p, 1'000'000});
        }
        auto const expected = transfer_time(peers * 1'000'000LL, port);
        expect_all(run(single_switch(peers + 1), in), expected);
        expect_all(run(single_switch(peers + 1), out), expected);
        in.insert(in.end(), out.begin(), out.end());  // the two directions do not meet
        expect_all(run(single_switch(peers + 1), in), expected);
    }
}

TEST(FlowEngineClosedForm, APermutationHasThePortsToItself) {
    for (std::uint32_t const shift : {1U, 3U, 8U}) {
        std::vector<Transfer> transfers;
        for (std::uint32_t h = 0; h < 32; ++h) transfers.push_back({0_us, h, (h + shift) % 32, 1'000'000});
        expect_all(run(single_switch(32), transfers), transfer_time(1'000'000, port));
        expect_all(run(leaves(32, 8, 1), transfers), transfer_time(1'000'000, port));
    }
}

// All hosts of a leaf send to the next leaf: the uplinks carry 1 / oversubscription of it.
TEST(FlowEngineClosedForm, APermutationAcrossLeavesIsSlowedByOversubscription) {
    for (std::uint32_t const factor : {2U, 4U}) {
        std::vector<Transfer> transfers;
        for (std::uint32_t h = 0; h < 32; ++h) transfers.push_back({0_us, h, (h + 8) % 32, 1'000'000});
        expect_all(run(leaves(32, 8, factor), transfers), transfer_time(factor * 1'000'000LL, port));
    }
}

// N hosts, P under a leaf, rate C, oversubscription k > 1: an uplink of P C / k carries P (N - P) transfers, so each
// gets C / (k (N - P)). What that leaves of a port, C (1 - 1 / k), is for the P - 1 transfers within the leaf.
TEST(FlowEngineClosedForm, AllToAllOnAnOversubscribedLeafSpine) {
    constexpr std::uint32_t hosts = 32, per_leaf = 8;
    constexpr std::int64_t bytes = 65'536;
    for (std::uint32_t const factor : {2U, 4U}) {
        auto const transfers = all_to_all(hosts, bytes);
        auto const done = run(leaves(hosts, per_leaf, factor), transfers);
        auto const near = transfer_time((per_leaf - 1) * bytes * factor, port * (factor - 1));
        auto const far = transfer_time((hosts - per_leaf) * bytes * factor, port);
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            bool const within = transfers[i].source / per_leaf == transfers[i].target / per_leaf;
            expect_time(done[i], within ? near : far, 2_ps);
        }
    }
}

// SimGrid 3.32 gives 83.575 us for 64 hosts and 167.461 us for 128, of which (N - 1) x 65,536 B / 50 GB/s are 82.575
// and 166.461 us. Its latency comes before the bytes: transfers within a leaf begin after two links of 500 ns, those
// between leaves after four, and a port that has begun at 1.000 us is never idle again. In an engine bytes leave at
// once and the exchange adds the latency of the route at the end, so all ends are those less 1.000 us; with starts put
// off by the latency of the route they are SimGrid's.
TEST(FlowEngineClosedForm, AllToAllOnANonBlockingLeafSpineIsSimGridsLessTheLatency) {
    struct Case {
        std::uint32_t hosts;
        Time simgrid;  // to the nanosecond
    };
    for (auto const& [hosts, simgrid] : {Case{64, 83'575_ns}, Case{128, 167'461_ns}}) {
        auto const fabric = make_fabric(leaves(hosts, 8, 1), 1);
        auto transfers = all_to_all(hosts, 65'536);
        auto const wire = transfer_time((hosts - 1) * 65'536, port);
        expect_all(run(*fabric, transfers), wire);
        expect_time(wire, simgrid - 1_us, 1_ns);
        EXPECT_EQ(fabric->route(RankId{0}, RankId{1}).latency, 1_us);
        EXPECT_EQ(fabric->route(RankId{0}, RankId{hosts - 1}).latency, 2_us);
        for (auto& t : transfers) t.start = fabric->route(RankId{t.source}, RankId{t.target}).latency;
        auto const late = run(*fabric, transfers);
        expect_time(*std::max_element(late.begin(), late.end()), wire + 1_us, 20_ps);
        expect_time(*std::max_element(late.begin(), late.end()), simgrid, 1_ns);
    }
}

// One block of a pattern file of the UCC traffic generator: "counts = {", a row of comma-separated counts per sender.
using Counts = std::vector<std::vector<std::int64_t>>;

std::vector<Counts> read_ucc_pattern(std::istream& file) {
    std::vector<Counts> blocks;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("counts = {")) {
            inside = true;
            blocks.emplace_back();
        } else if (line.starts_with("}")) {
            inside = false;
        } else if (inside) {
            std::istringstream row(line);
            blocks.back().emplace_back();
            for (std::string cell; std::getline(row, cell, ',');) blocks.back().back().push_back(std::stoll(cell));
        }
    }
    return blocks;
}

// The bytes of the busiest port over its rate.
Time port_bound(Counts const& counts, std::int64_t element) {
    std::vector<std::int64_t> sent(counts.size(), 0), received(counts.size(), 0);
    for (std::size_t s = 0; s < counts.size(); ++s)
        for (std::size_t t = 0; t < counts.size(); ++t)
            if (s != t) {
                sent[s] += counts[s][t] * element;
                received[t] += counts[s][t] * element;
            }
    return transfer_time(
        std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end())),
        port);
}

// An MoE dispatch between 16 ranks in 32-bit integers, rows are senders. Its busiest port is the receiver's of rank 12:
// 324,403,200 B without what it sends to itself, 6.488 ms at 50 GB/s.
TEST(FlowEngineClosedForm, AnUnevenExchangeEndsWithItsBusiestPort) {
    std::filesystem::path const path = ORRERY_SOURCE_DIR "/../shared/data/realfiles/moe_routing/ucc_generator_file.txt";
    std::ifstream file(path);
    if (!file) GTEST_SKIP() << "the pattern file of the UCC traffic generator is not here: " << path.lexically_normal();
    auto const blocks = read_ucc_pattern(file);
    ASSERT_EQ(blocks.size(), 2U);
    ASSERT_EQ(blocks[0].size(), 16U);
    EXPECT_EQ(port_bound(blocks[0], 4), 6'488'064_ns);
    for (auto const& counts : blocks) {
        std::vector<Transfer> transfers;
        for (std::uint32_t s = 0; s < 16; ++s)
            for (std::uint32_t t = 0; t < 16; ++t)
                if (s != t && counts[s][t] > 0) transfers.push_back({0_us, s, t, counts[s][t] * 4});
        for (std::uint32_t const weighted : {0U, 1U}) {
            for (auto& t : transfers) t.weight = weighted ? static_cast<std::uint32_t>(t.bytes / 4) : 1;
            auto const done = run(single_switch(16), transfers);
            expect_time(*std::max_element(done.begin(), done.end()), port_bound(counts, 4),
                        100_ps);  // that port is never idle before
        }
    }
}

TEST(FlowEngineClosedForm, WhatARankKeepsAndEmptySharesAreNoTransfers) {
    Matrix matrix = nothing(4);
    for (std::uint32_t m = 0; m < 4; ++m) matrix[m][m] = 5;  // to itself only
    OneExchange const own({.fabric = single_switch(4), .plan = push_plan(), .matrix = matrix});
    EXPECT_EQ(own.flows, 0);
    OneExchange const none({.fabric = single_switch(4), .plan = push_plan(), .matrix = nothing(4)});
    EXPECT_EQ(none.flows, 0);
    matrix[1][3] = 1;
    OneExchange const one({.fabric = single_switch(4), .plan = push_plan(), .matrix = matrix});
    EXPECT_EQ(one.flows, 1);
    EXPECT_EQ(one.injected, push_plan().message_bytes);
    EXPECT_EQ(one.delivered, one.injected);
}

}  // namespace
}  // namespace orrery::testing
