// SPDX-License-Identifier: Apache-2.0
// What a packet run tells without a log of packets: flow times, queues, pauses, why a counter is zero; sums that agree.
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-matchers.h>

#include <numeric>

namespace orrery::testing {
namespace {

using ::testing::HasSubstr;

std::int64_t sum(std::vector<std::int64_t> const& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

class PacketOutput : public ::testing::Test {
  protected:
    // summary.json of a run with these settings of network.packet.
    nlohmann::json run(std::vector<std::string> const& settings) {
        std::vector<std::string> arguments{"run",   "tiny.yaml",           "--out", "o", "--force",
                                           "--set", "network.model=packet"};
        for (auto const& setting : settings) {
            arguments.emplace_back("--set");
            arguments.push_back("network.packet." + setting);
        }
        finished_ = orrery(arguments, directory_.path());
        EXPECT_EQ(finished_.code, 0) << finished_.err;
        return summary_of(directory_.path() / "o");
    }
    std::vector<std::int64_t> links(std::string const& name) const {
        return column<std::int64_t>(directory_.path() / "o/run.h5", "links", name);
    }

    TinyDirectory directory_{""};
    Finished finished_;
};

TEST_F(PacketOutput, OpenLoopCountsEveryFlowAndPacketOnce) {
    auto const summary = run({});
    auto const packets = summary["packets"];
    EXPECT_EQ(packets["flows"], summary["flows"]);
    EXPECT_EQ(packets["injected"], packets["delivered"]);
    // Two hops on one switch, and nothing but data: what each packet found, and what each link sent.
    auto const found = column<std::int64_t>(directory_.path() / "o/run.h5", "queues", "packets");
    std::int64_t listed = 0;
    for (auto const& row : packets["queues"]) listed += sum(row["packets"].get<std::vector<std::int64_t>>());
    EXPECT_EQ(sum(found), listed);
    EXPECT_EQ(links("sent_bytes"), links("wire_bytes"));
    EXPECT_EQ(packets["max_queue_bytes"], std::ranges::max(links("max_queue")));
    // The same per physical link and time bin.
    auto const rows = column<std::int64_t>(directory_.path() / "o/run.h5", "packet_bins", "wire_bytes");
    EXPECT_GT(rows.size(), sum(links("sent_bytes")) > 0 ? 16U : 0U);
    EXPECT_EQ(sum(rows), sum(links("sent_bytes")));
    EXPECT_EQ(std::ranges::max(column<std::int64_t>(directory_.path() / "o/run.h5", "packet_bins", "max_queue")),
              packets["max_queue_bytes"]);
    auto const bins = column<std::int64_t>(directory_.path() / "o/run.h5", "packet_bins", "busy");
    EXPECT_NEAR(static_cast<double>(sum(bins)), static_cast<double>(sum(links("busy"))), 1000);
    // A link of rate r is busy bytes / r.
    auto const capacity = column<std::int64_t>(directory_.path() / "o/run.h5", "fabric/bundles", "capacity");
    auto const busy = links("busy"), sent = links("sent_bytes");
    for (std::size_t b = 0; b < busy.size(); ++b)
        EXPECT_NEAR(static_cast<double>(busy[b]),
                    static_cast<double>(sent[b]) * 8e12 / static_cast<double>(capacity[b]), 1);
    // No flow beats an empty fabric.
    EXPECT_GE(packets["slowdown"]["p50"], 1);
    for (auto const* what : {"flow_time_s", "slowdown"}) {
        EXPECT_GT(packets[what]["mean"], 0);
        EXPECT_LE(packets[what]["p50"], packets[what]["p95"]);
        EXPECT_LE(packets[what]["p95"], packets[what]["p99"]);
        EXPECT_LE(packets[what]["p99"], packets[what]["max"]);
    }
    EXPECT_THAT(finished_.out, HasSubstr("slowdown mean"));
    EXPECT_THAT(finished_.out, HasSubstr("max queue"));
}

TEST_F(PacketOutput, PausesAreCountedAndTheirAbsenceIsExplained) {
    auto const calm = run({"lossless=pfc", "port_buffer=64MiB"})["packets"];
    EXPECT_EQ(calm["pauses"], 0);
    EXPECT_EQ(sum(links("paused")), 0);
    ASSERT_EQ(calm["notes"].size(), 1U);
    EXPECT_THAT(calm["notes"][0].get<std::string>(), HasSubstr("no pauses: maximum queue "));
    EXPECT_THAT(calm["notes"][0].get<std::string>(), HasSubstr(", threshold "));
    EXPECT_THAT(finished_.out, HasSubstr("no pauses: maximum queue "));

    auto const tight = run({"lossless=pfc", "port_buffer=160KiB", "pfc_xoff=16KiB"})["packets"];
    EXPECT_GT(tight["pauses"], 0);
    EXPECT_GT(sum(links("paused")), 0);
    EXPECT_TRUE(tight["notes"].empty());
    EXPECT_EQ(tight["dropped"], 0);
}

TEST_F(PacketOutput, ATraceHasTheFirstPacketsOfAFlowInTheOrderOfTime) {
    run({"trace.flow=0>1", "trace.limit=7"});
    auto const file = directory_.path() / "o/run.h5";
    auto const times = column<std::int64_t>(file, "packet_trace", "time");
    ASSERT_EQ(times.size(), 7U);
    EXPECT_TRUE(std::ranges::is_sorted(times));
    EXPECT_EQ(column<std::uint32_t>(file, "packet_trace", "source"), std::vector<std::uint32_t>(7, 0));
    EXPECT_EQ(column<std::uint32_t>(file, "packet_trace", "target"), std::vector<std::uint32_t>(7, 1));
    for (auto const& [setting, problem] :
         {std::pair{"trace.flow=0-1", "not two ranks"}, std::pair{"trace.flow=0>1000000", "the fabric has ranks 0 to"},
          std::pair{"trace.links=nowhere*", "matches no link"}}) {
        auto const refused = orrery({"run", "tiny.yaml", "--out", "o", "--force", "--set", "network.model=packet",
                                     "--set", std::string("network.packet.") + setting},
                                    directory_.path());
        EXPECT_EQ(refused.code, 2) << setting;
        EXPECT_THAT(refused.err, HasSubstr(problem));
    }
}

// Endpoints take everything.
TEST_F(PacketOutput, ASwitchThatFeedsEndpointsNeverWaitsForCreditAndSaysSo) {
    auto const single = run({"lossless=credit", "port_buffer=64KiB"})["packets"];
    EXPECT_EQ(single["credit_stalls"], 0);
    EXPECT_EQ(sum(links("paused")), 0);
    EXPECT_THAT(single["notes"][0].get<std::string>(), HasSubstr("no credit stalls"));
}

TEST_F(PacketOutput, MarksOfAllLinksAreTheTotal) {
    auto const packets = run({"transport=dcqcn", "ecn_kmin=16KiB", "ecn_kmax=64KiB"})["packets"];
    EXPECT_GT(packets["marks"], 0);
    EXPECT_EQ(sum(links("marks")), packets["marks"]);
    EXPECT_EQ(sum(links("drops")), packets["dropped"]);
    // Acknowledgements are sent, too.
    EXPECT_GT(sum(links("sent_bytes")), sum(links("wire_bytes")));
}

TEST(PacketModel, StallsOfCreditsAppearWhereSwitchesFeedSwitches) {
    Simulated const run(shipped("leaf_spine_prefill"),
                        {"network.model=packet", "workload.moe_layers=1", "network.packet.lossless=credit",
                         "network.packet.port_buffer=16KiB", "workload.microbatches=1", "workload.context=64"});
    std::int64_t paused = 0;
    for (auto const ps : run.share.packets->tables.paused_ps) paused += ps;
    EXPECT_GT(run.share.packets->counters.stalls, 0);
    EXPECT_GT(paused, 0);
    EXPECT_EQ(run.share.packets->counters.dropped, 0);
}

}  // namespace
}  // namespace orrery::testing
