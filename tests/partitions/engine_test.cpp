// SPDX-License-Identifier: Apache-2.0
// One digest for every number of processes, partition method and window width; and what removing the tie-break does.
#include "core/window_loop_impl.hpp"
#include "partitions/dry_run_exchange.hpp"
#include "partitions/partition.hpp"
#include "tests/partitions/phold.hpp"

#include <gtest/gtest.h>

#include <set>

namespace orrery {
namespace {

using test::OwnedPhold;

// What a mistaken engine would do: events of one instant in the order in which they happen to lie.
struct TimeOnly {
    bool operator()(Event const& a, Event const& b) const { return a.when < b.when; }
};

LpGraph phold_graph() {
    LpGraph graph;
    for (std::uint32_t lp = 0; lp < test::lp_count; ++lp) {
        graph.weight.push_back(1 + lp % 3);
        graph.block.push_back(lp / 8);
        graph.edges.push_back({LpId(lp), LpId((lp + 1) % test::lp_count), test::lookahead, 1});
        graph.edges.push_back({LpId(lp), LpId((lp + 7) % test::lp_count), test::lookahead, 1});
    }
    return graph;
}

std::string name_of_lp(LpId lp) {
    return std::to_string(lp.value());
}

struct Result {
    Digest digest;
    RunOutcome outcome;
};

template <class Loop>
Result simulate(std::uint32_t processes, std::string const& method, Time width) {
    PartitionOptions options;
    options.method = method;
    options.processes = processes;
    auto const owner = make_partition(phold_graph(), options, name_of_lp).owner;
    DryRun dry_run(processes);
    std::vector<OwnedPhold> parts;
    parts.reserve(processes);
    std::vector<std::unique_ptr<Loop>> loops;
    for (std::uint32_t process = 0; process < processes; ++process) {
        parts.emplace_back(owner, process);
        WindowOptions window;
        window.lookahead = test::lookahead;
        window.width = width;
        loops.push_back(std::make_unique<Loop>(window, parts.back().local, owner, dry_run.exchange(process)));
    }
    auto const outcomes = dry_run.run<Loop>(loops);
    Result result{.digest = {}, .outcome = outcomes.front()};
    std::int64_t handled = 0;
    for (std::uint32_t process = 0; process < processes; ++process) {
        result.digest.add(parts[process].digest());
        EXPECT_EQ(outcomes[process].windows, outcomes[0].windows);
        EXPECT_EQ(outcomes[process].events, outcomes[0].events);
        for (auto const& lp : parts[process].lps) handled += lp->handled();
    }
    EXPECT_EQ(handled, result.outcome.events);
    return result;
}

TEST(Engine, OneDigestForEveryProcessCountMethodAndWidth) {
    auto const reference = simulate<WindowLoop>(1, "blocks", Time{});
    EXPECT_GT(reference.outcome.events, 8'000);
    EXPECT_GT(reference.outcome.last, test::horizon * 15);  // the rare far events were reached
    auto const expect_same = [&](std::uint32_t processes, std::string const& method, Time width) {
        auto const result = simulate<WindowLoop>(processes, method, width);
        EXPECT_EQ(result.digest.hex(), reference.digest.hex())
            << processes << " processes, " << method << ", " << width.ps() << " ps";
        EXPECT_EQ(result.outcome.events, reference.outcome.events);
        EXPECT_EQ(result.outcome.last, reference.outcome.last);
        if (width == test::lookahead) {
            EXPECT_EQ(result.outcome.windows, reference.outcome.windows);
        }
    };
    for (auto const width : {test::lookahead, Time::from_ps(3'500), Time::from_ps(1'000)})
        for (auto const& method : partition_methods())
            for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U}) expect_same(processes, method, width);
    expect_same(50, "blocks", test::lookahead);  // more processes than LPs
    expect_same(3, "random", Time::from_ps(2));
}

// If this fails the test above has lost its teeth.
TEST(Engine, WithoutTheTieBreakDigestsDependOnTheProcessCount) {
    using Mistaken = BasicWindowLoop<TimeOnly>;
    std::set<std::string> digests;
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U})
        digests.insert(simulate<Mistaken>(processes, "blocks", Time{}).digest.hex());
    EXPECT_GT(digests.size(), 1U);
}

TEST(Engine, JumpsOverEmptyWindows) {
    auto const dense = simulate<WindowLoop>(3, "blocks", test::lookahead);
    auto const span = dense.outcome.last.ps() / test::lookahead.ps();
    EXPECT_GT(span, 1'400);
    EXPECT_LT(dense.outcome.windows, span / 2);
}

}  // namespace
}  // namespace orrery
