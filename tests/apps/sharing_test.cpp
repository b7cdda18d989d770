// SPDX-License-Identifier: Apache-2.0
// Delayed sharing against the joint solver on the shipped scenarios, and who chooses which.
#include "tests/apps/apps_testing.hpp"

#include <cmath>
#include <map>

namespace orrery::testing {
namespace {

double mean_seconds(Rows const& rows, OpKind kind) {
    double sum = 0, count = 0;
    for (auto const& row : rows.operations) {
        if (row.kind != kind) continue;
        sum += (row.end - row.start).seconds();
        ++count;
    }
    return sum / count;
}

struct Case {
    char const* name;
    std::vector<std::string> sets;
};

void PrintTo(Case const& c, std::ostream* out) {
    *out << c.name;
}

class Sharing : public ::testing::TestWithParam<Case> {};

// The bounds of docs/flow-model.md.
TEST_P(Sharing, DelayedIsNearExact) {
    auto sets = GetParam().sets;
    sets.emplace_back("network.flow.sharing=exact");
    Simulated const exact(shipped(GetParam().name), sets);
    sets.back() = "network.flow.sharing=delayed";
    Simulated const delayed(shipped(GetParam().name), sets);
    EXPECT_EQ(delayed.share.unfinished_ranks, 0);
    EXPECT_EQ(delayed.share.transfers.flows, exact.share.transfers.flows);
    EXPECT_EQ(delayed.share.transfers.injected_bytes, exact.share.transfers.injected_bytes);
    EXPECT_EQ(delayed.share.transfers.delivered_bytes, exact.share.transfers.delivered_bytes);
    EXPECT_EQ(delayed.share.bundle_bytes, exact.share.bundle_bytes);
    EXPECT_EQ(delayed.share.bundle_payload, exact.share.bundle_payload);
    EXPECT_EQ(delayed.rows.operations.size(), exact.rows.operations.size());
    EXPECT_EQ(delayed.rows.collectives.size(), exact.rows.collectives.size());
    EXPECT_NEAR(delayed.step().seconds() / exact.step().seconds(), 1, 0.003);
    for (auto const kind : {OpKind::dispatch, OpKind::combine})
        EXPECT_NEAR(mean_seconds(delayed.rows, kind) / mean_seconds(exact.rows, kind), 1, 0.02) << name_of(kind);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Sharing,
                         ::testing::Values(Case{"single_switch_ep8", {}},
                                           Case{"leaf_spine_prefill", {"workload.moe_layers=2"}},
                                           Case{"cross_supernode", {}},
                                           Case{"cloudmatrix384_decode", {"workload.moe_layers=2"}}),
                         [](auto const& shown) { return std::string(shown.param.name); });

TEST(Sharing, BoundsOfInstancesAreTheSame) {
    TinyDirectory const directory;
    for (auto const* variant : {"fused", "pull", "alltoall", "deepep_normal"}) {
        std::vector<std::string> sets{std::string("workload.operators.variant=") + variant,
                                      "network.flow.sharing=exact"};
        Simulated const exact(directory.scenario, sets);
        sets.back() = "network.flow.sharing=delayed";
        Simulated const delayed(directory.scenario, sets);
        ASSERT_EQ(delayed.rows.collectives.size(), exact.rows.collectives.size());
        std::map<std::pair<std::uint16_t, OpKind>, CollectiveRow> by_key;
        for (auto const& row : exact.rows.collectives) by_key[{row.layer, row.kind}] = row;
        for (auto const& row : delayed.rows.collectives) {
            auto const& expected = by_key.at({row.layer, row.kind});
            EXPECT_EQ(row.bound, expected.bound) << variant;
            EXPECT_EQ(row.bound_bundle, expected.bound_bundle) << variant;
            EXPECT_EQ(row.payload_bytes, expected.payload_bytes) << variant;
            EXPECT_LE(row.bound, row.last_end - row.first_start) << variant;
        }
    }
}

TEST(Sharing, TheScenarioChoosesAndTheJobSays) {
    auto const automatic = make_job(shipped("single_switch_ep8"));
    EXPECT_EQ(automatic.sites(), nullptr);
    EXPECT_EQ(automatic.solvers_text(), "one solver per plane (auto)");
    auto const sites = make_job(shipped("single_switch_ep8"), {"network.flow.sharing=delayed"});
    ASSERT_NE(sites.sites(), nullptr);
    EXPECT_EQ(sites.sites()->count(), 8U);
    EXPECT_EQ(sites.lp_count(), 16U);
    EXPECT_EQ(sites.solvers_text(), "8 sites with notices 1 us late");
    EXPECT_EQ(sites.lookahead(), 1_us);
    EXPECT_EQ(sites.lookahead_reason(), "1 us (notice between sites)");
    EXPECT_EQ(
        make_job(shipped("single_switch_ep8"), {"network.model=analytic", "network.flow.sharing=delayed"}).sites(),
        nullptr);
}

// What sites cannot do is refused, not ignored.
TEST(Sharing, SitesRefuseTimetablesAndSlowStart) {
    TinyDirectory const directory;
    auto const refused = [&](std::string const& what) {
        try {
            make_job(directory.scenario, {"network.flow.sharing=delayed", what});
        } catch (InputError const& error) {
            return std::string(error.what());
        }
        return std::string{};
    };
    EXPECT_NE(refused("network.flow.initial_window=65536").find("sites know no slow start"), std::string::npos);
    auto text = tiny_scenario();
    text.insert(text.find("workload:"), "  degrade:\n    - {links: 'h1-switch.up', rate_factor: 0.5, from: 10us}\n");
    directory.write("late.yaml", text);
    try {
        make_job(directory.path() / "late.yaml", {"network.flow.sharing=delayed"});
        ADD_FAILURE() << "not refused";
    } catch (InputError const& error) {
        EXPECT_NE(std::string(error.what()).find("change while the run goes on"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace orrery::testing
