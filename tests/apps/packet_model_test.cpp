// SPDX-License-Identifier: Apache-2.0
// The packet model under a whole workload: bounds, agreement with the flow model, every transport on several processes.
#include "apps/verify/in_memory_run.hpp"
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-matchers.h>

namespace orrery::testing {
namespace {

using Sets = std::vector<std::string>;

Sets packet_with(Sets const& more) {
    Sets sets{"network.model=packet", "workload.moe_layers=1"};
    sets.insert(sets.end(), more.begin(), more.end());
    return sets;
}

TEST(PacketModel, NoCollectiveIsFasterThanItsBound) {
    for (auto const* scenario : {"single_switch_ep8", "cross_supernode"}) {
        Simulated const run(shipped(scenario), packet_with({}));
        ASSERT_FALSE(run.rows.collectives.empty());
        for (auto const& row : run.rows.collectives) EXPECT_GE(row.last_end - row.first_start, row.bound);
    }
}

// What flows and packets share is the links; what they do not is interleaving, whose effect is a few packets per flow.
TEST(PacketModel, StepIsThatOfTheFlowModelWithinFivePercent) {
    for (auto const* scenario : {"single_switch_ep8", "cross_supernode"}) {
        auto const packet = Simulated(shipped(scenario), packet_with({})).step();
        auto const flow = Simulated(shipped(scenario), {"workload.moe_layers=1"}).step();
        EXPECT_NEAR(packet.seconds() / flow.seconds(), 1, 0.05) << scenario;
    }
}

TEST(PacketModel, EveryTransportGivesOneDigestOnSeveralProcesses) {
    for (auto const* transport : {"none", "window", "dcqcn", "delay", "receiver_credit", "hpcc"})
        for (auto const* lossless : {"pfc", "credit"}) {
            auto const job =
                make_job(shipped("single_switch_ep8"),
                         packet_with({std::string("network.packet.transport=") + transport,
                                      std::string("network.packet.lossless=") + lossless,
                                      "network.packet.port_buffer=1MiB", "network.packet.ecn_kmin=64KiB"}));
            auto const one = run_in_memory(job, 1);
            EXPECT_EQ(one.unfinished_ranks, 0);
            for (std::uint32_t const processes : {2U, 3U, 4U, 7U})
                EXPECT_EQ(one.digest, run_in_memory(job, processes).digest)
                    << transport << ' ' << lossless << ' ' << processes;
        }
}

TEST(PacketModel, WhatCannotFinishIsRefusedBeforeTheRun) {
    auto const refused = [](Sets const& sets) {
        try {
            make_job(shipped("single_switch_ep8"), packet_with(sets));
        } catch (InputError const& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    EXPECT_THAT(refused({"network.packet.port_buffer=64KiB"}), ::testing::HasSubstr("transport is none"));
    EXPECT_THAT(refused({"network.packet.lossless=pfc"}), ::testing::HasSubstr("port_buffer is not set"));
    EXPECT_THAT(refused({"network.packet.transport=dcqcn", "network.packet.window=0"}),
                ::testing::HasSubstr("window is 0"));
}

}  // namespace
}  // namespace orrery::testing
