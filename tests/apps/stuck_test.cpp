// SPDX-License-Identifier: Apache-2.0
// A workload that cannot finish: one rank never comes, the run ends by itself and says who waits for whom.
#include "partitions/dry_run_exchange.hpp"
#include "tests/apps/apps_testing.hpp"

namespace orrery::testing {
namespace {

class Absent final : public LogicalProcess {
  public:
    void start(Outbox&) override {}
    void handle(Event const&, Outbox&) override {}
    DigestChain digest() const override { return {}; }
    void state(StateStream&) override {}
};

TEST(Stuck, ARunThatCannotFinishEndsAndNamesTheMissingRank) {
    TinyDirectory const directory;
    for (auto const* variant : {"fused", "pull"})
        for (auto const* sharing : {"exact", "delayed"}) {
            auto const job = make_job(directory.scenario, {std::string("workload.operators.variant=") + variant,
                                                           std::string("network.flow.sharing=") + sharing});
            DryRun board(2);
            std::vector<std::uint32_t> owner(job.lp_count(), 0);
            owner[5] = 1;  // a process of its own, with a rank that does nothing
            Rows rows;
            Simulation simulation(job, owner, board.exchange(0), rows, {});
            Absent absent;
            WindowLoop other({.lookahead = job.lookahead()}, {{LpId{5}, &absent}}, owner, board.exchange(1));
            simulation.loop().begin();
            other.begin();
            for (bool more = true; more;) {
                more = simulation.loop().advance();
                more = other.advance() || more;
            }
            auto const outcome = simulation.close();
            EXPECT_EQ(outcome.reason, StopReason::finished);
            auto const share = simulation.share();
            EXPECT_EQ(share.unfinished_ranks, 7);
            auto const waiting = simulation.waiting();
            ASSERT_GE(waiting.size(), 2U);
            EXPECT_EQ(waiting[0],
                      "dispatch of layer 1, micro-batch 0, group 0: rank 0 and 6 more wait for rank 5, which has not "
                      "reached it")
                << variant;
            EXPECT_NE(waiting[1].find("rank 0 is in dispatch of layer 1, micro-batch 0 since "), std::string::npos);
        }
}

TEST(Stuck, NothingWaitsInACompleteRun) {
    TinyDirectory const directory;
    auto const job = make_job(directory.scenario);
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    Rows rows;
    Simulation simulation(job, owner, alone, rows, {});
    simulation.run();
    EXPECT_TRUE(simulation.waiting().empty());
    EXPECT_EQ(simulation.share().unfinished_ranks, 0);
}

}  // namespace
}  // namespace orrery::testing
