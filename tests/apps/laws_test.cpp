// SPDX-License-Identifier: Apache-2.0
// What must hold whatever the scenario: bytes, speed, heat, skew, seeds.
#include "apps/run/moe_step.hpp"
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-matchers.h>

#include <numeric>
#include <set>

namespace orrery::testing {
namespace {

using ::testing::HasSubstr;

using Sets = std::vector<std::string>;

Sets operator+(Sets a, Sets const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Small versions of everything shipped.
struct Case {
    char const* name;
    Sets sets;
    Sets doubled;  // every rate of the fabric and the device
};
void PrintTo(Case const& c, std::ostream* out) {
    *out << c.name;
}
Sets const twice_the_device = {"device.int8_rate=1504TOPS", "device.bf16_rate=752TFLOPS", "device.memory_rate=3.2TB/s"};
Sets const twice_cloudmatrix = {"fabric.cloudmatrix384.die_link_rate=56GB/s",
                                "fabric.cloudmatrix384.l1_l2_link_rate=56GB/s",
                                "fabric.cloudmatrix384.cpu_rate=320GB/s", "fabric.cloudmatrix384.sio_rate=540GB/s",
                                "fabric.cloudmatrix384.rdma.die_rate=400Gb/s"};
std::vector<Case> cases() {
    return {{"single_switch_ep8", {}, {"fabric.single_switch.host_rate=800Gb/s"}},
            {"leaf_spine_prefill", {"workload.moe_layers=1"}, {"fabric.leaf_spine.host_rate=800Gb/s"}},
            {"cross_supernode", {"workload.moe_layers=2"}, twice_cloudmatrix},
            {"cloudmatrix384_decode",
             {"workload.moe_layers=1", "workload.ep=64", "workload.batch_per_rank=24"},
             twice_cloudmatrix}};
}

class LawsOf : public ::testing::TestWithParam<Case> {
  protected:
    fs::path scenario() const { return shipped(GetParam().name); }
};

// What `orrery check` promises of the flow model's memory, against what the run then held.
TEST(Laws, MemoryOfFlowsIsWithinTwiceWhatCheckSays) {
    for (auto const* ep : {"workload.ep=64", "workload.ep=160", "workload.ep=320"}) {
        auto const job = make_job(shipped("cloudmatrix384_decode"), {"workload.moe_layers=1", ep});
        auto const promised = static_cast<double>(job.estimate().solver_bytes());
        auto const held = static_cast<double>(Simulated(job).share.solver_bytes);
        EXPECT_GE(promised, held / 2) << ep;
        EXPECT_LE(promised, held * 2) << ep;
    }
}

TEST_P(LawsOf, BytesAreTokensTimesMessagesTimesBytesButOwnOnes) {
    auto const job = make_job(scenario(), GetParam().sets);
    Simulated const run(job);
    std::int64_t remote = 0;
    RoutingMatrix matrix;
    std::int64_t instances = 0;
    std::uint32_t moe_layers = 0;
    for (auto const& layer : job.moe_step().plan().layers()) moe_layers += layer.moe ? 1 : 0;
    for (std::uint32_t group = 0; group < job.moe_step().groups(); ++group)
        for (std::uint32_t layer = 0; layer < moe_layers; ++layer)
            for (std::uint32_t microbatch = 0; microbatch < job.moe_step().plan().microbatches(); ++microbatch) {
                job.moe_step().matrices().build(group, layer, microbatch, matrix);
                ++instances;
                auto const all = static_cast<std::int64_t>(job.moe_step().tokens_per_microbatch()) *
                                 job.moe_step().matrices().messages_per_token() * job.moe_step().ep();
                std::int64_t own = 0;
                for (std::uint32_t m = 0; m < job.moe_step().ep(); ++m) own += matrix.messages(m, m);
                remote += all - own;
            }
    auto const dispatch = remote * job.moe_step().exchange(OpKind::dispatch).message_bytes;
    auto const combine = remote * job.moe_step().exchange(OpKind::combine).message_bytes;
    EXPECT_EQ(run.share.transfers.injected_bytes, dispatch + combine);
    EXPECT_EQ(run.share.transfers.delivered_bytes, run.share.transfers.injected_bytes);
    EXPECT_EQ(run.share.unfinished_ranks, 0);
    std::int64_t dispatched = 0, combined = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (auto const& pair : run.rows.pairs) {
        dispatched += pair.dispatch_bytes;
        combined += pair.combine_bytes;
        EXPECT_NE(pair.source, pair.target);
        EXPECT_TRUE(seen.emplace(pair.source, pair.target).second);
    }
    EXPECT_EQ(dispatched, dispatch);
    EXPECT_EQ(combined, combine);
    std::int64_t loads = 0;
    for (auto const& row : run.rows.loads) loads += row.tokens;
    EXPECT_EQ(loads, instances * job.moe_step().tokens_per_microbatch() *
                         job.moe_step().matrices().messages_per_token() * job.moe_step().ep());
}

TEST_P(LawsOf, DoublingEveryRateNeverSlows) {
    for (auto const* model : {"network.model=flow", "network.model=analytic"}) {
        auto const sets = GetParam().sets + Sets{model};
        auto const before = Simulated(scenario(), sets).step();
        auto const fabric = Simulated(scenario(), sets + GetParam().doubled).step();
        auto const all = Simulated(scenario(), sets + GetParam().doubled + twice_the_device).step();
        EXPECT_LE(fabric, before) << model;
        EXPECT_LT(all, fabric) << model;
        EXPECT_GE(all * 2, before) << model << ": twice the rate is at most twice as fast";
    }
}

TEST_P(LawsOf, EveryCollectiveTakesAtLeastItsBound) {
    for (auto const* model : {"network.model=flow", "network.model=analytic"}) {
        Simulated const run(scenario(), GetParam().sets + Sets{model});
        ASSERT_FALSE(run.rows.collectives.empty());
        for (auto const& row : run.rows.collectives) {
            EXPECT_GE(row.last_end - row.first_start, row.bound);
            EXPECT_LE(row.first_start, row.last_start);
            EXPECT_LE(row.last_start, row.last_end);
        }
    }
}

TEST_P(LawsOf, WhatIsWrittenDoesNotChangeTheResult) {
    auto const plain = Simulated(scenario(), GetParam().sets);
    for (auto const* set :
         {"output.detail=layers", "output.detail=summary", "output.link_bin=7us", "output.link_bin=10ms"}) {
        Simulated const other(scenario(), GetParam().sets + Sets{set});
        EXPECT_EQ(other.digest(), plain.digest()) << set;
        EXPECT_EQ(other.step(), plain.step()) << set;
    }
}

TEST_P(LawsOf, ASeedChangesTheResult) {
    std::set<std::string> digests;
    for (auto const* seed : {"seed=11", "seed=12", "seed=13"})
        digests.insert(Simulated(scenario(), GetParam().sets + Sets{seed}).digest());
    EXPECT_EQ(digests.size(), 3U);
    EXPECT_TRUE(digests.contains(Simulated(scenario(), GetParam().sets + Sets{"seed=12"}).digest()));
}

TEST_P(LawsOf, OperationsOfARankFollowEachOther) {
    Simulated const run(scenario(), GetParam().sets);
    std::map<std::uint32_t, Time> compute_end, communication_end;
    auto rows = run.rows.operations;
    std::sort(rows.begin(), rows.end(),
              [](auto const& a, auto const& b) { return std::pair(a.rank, a.start) < std::pair(b.rank, b.start); });
    for (auto const& row : rows) {
        bool const communicates = row.kind == OpKind::dispatch || row.kind == OpKind::combine;
        auto& end = (communicates ? communication_end : compute_end)[row.rank];
        EXPECT_GE(row.start, end) << name_of(row.kind) << " of rank " << row.rank;
        end = row.end;
        EXPECT_GE(row.wait, Time{});
        EXPECT_LE(row.wait, row.end - row.start);
        EXPECT_GE(row.exposed, Time{});
        EXPECT_LE(row.exposed, row.end - row.start);
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, LawsOf, ::testing::ValuesIn(cases()),
                         [](auto const& shown) { return std::string(shown.param.name); });

// The hottest link of a run, made slower: the run takes longer and the screen names the link first.
TEST(Laws, DegradingTheHottestLinkSlowsTheRunAndIsNamed) {
    for (auto const& c : cases()) {
        TempDirectory const directory;
        auto const base = fs::path(ORRERY_SOURCE_DIR) / "scenarios";
        fs::create_directory_symlink(base / "models", directory.path() / "models");
        auto const text = read_text(shipped(c.name));
        auto const run = [&](std::string const& name, std::string const& scenario) {
            directory.write(name + ".yaml", scenario);
            std::vector<std::string> arguments{"run", name + ".yaml", "--out", name};
            for (auto const& set : c.sets) arguments.insert(arguments.end(), {"--set", set});
            auto const finished = orrery(arguments, directory.path());
            EXPECT_EQ(finished.code, 0) << finished.err;
            return finished;
        };
        run("healthy", text);
        auto const healthy = summary_of(directory.path() / "healthy");
        auto const hottest = healthy["links"][0]["name"].get<std::string>();
        auto degraded = text;
        auto const at = degraded.find("\nworkload:");
        ASSERT_NE(at, std::string::npos);
        degraded.insert(at + 1, "  degrade:\n    - links: \"" + hottest + "\"\n      rate_factor: 0.1\n");
        auto const screen = run("degraded", degraded).out;
        auto const slow = summary_of(directory.path() / "degraded");
        EXPECT_GT(slow["step_time_s"].get<double>(), healthy["step_time_s"].get<double>()) << c.name;
        EXPECT_EQ(slow["links"][0]["name"], hottest) << c.name;
        EXPECT_THAT(screen, HasSubstr("\n  " + hottest + " ")) << c.name;
        EXPECT_EQ(slow["conservation"], healthy["conservation"]) << c.name;
        EXPECT_TRUE(slow["ignored"].empty()) << slow["ignored"];
    }
}

TEST(Laws, ADegradedLinkWithoutTrafficIsReported) {
    TinyDirectory const directory;
    auto text = tiny_scenario();
    text.insert(text.find("workload:"), "  degrade:\n    - links: h7-*\n      rate_factor: 0.5\n");
    directory.write("idle.yaml", text);
    auto const finished = orrery({"run", "idle.yaml", "--out", "o", "--set", "workload.ep=4"}, directory.path());
    ASSERT_EQ(finished.code, 0) << finished.err;
    auto const ignored = summary_of(directory.path() / "o")["ignored"];
    ASSERT_EQ(ignored.size(), 1U);
    EXPECT_THAT(ignored[0].get<std::string>(), HasSubstr("h7-* has no effect"));
    EXPECT_EQ(finished.digest(), "digest: " + Simulated(directory.scenario, {"workload.ep=4"}).digest());
}

// The slowest rank of one MoE layer. Loads decide by weight, so the heat is raised in steps that leave no doubt about
// which sample is hotter; between neighbouring weights the draws of single tokens are noise.
TEST(Laws, AHotterExpertNeverSpeedsTheLayer) {
    TinyDirectory const directory;
    for (auto const* variant : {"fused", "pull", "alltoall"})
        for (auto const* model : {"flow", "analytic"}) {
            Time last;
            std::int64_t last_load = 0;
            for (int const weight : {1, 3, 10, 40}) {
                std::string loads = "{\"weight\": [[" + std::to_string(weight);
                for (int expert = 1; expert < 32; ++expert) loads += ", 1";
                directory.write("loads.json", loads + "]]}");
                Simulated const run(
                    directory.scenario,
                    {"workload.moe_layers=1", "workload.routing.source=histogram",
                     "workload.routing.file=" + (directory.path() / "loads.json").string(),
                     "workload.batch_per_rank=240", std::string("workload.operators.variant=") + variant,
                     std::string("network.model=") + model});
                std::int64_t hottest = 0;
                for (auto const& row : run.rows.loads) hottest = std::max(hottest, row.tokens);
                EXPECT_GT(hottest, last_load);
                EXPECT_GE(run.step(), last) << variant << " " << model << " weight " << weight;
                last = run.step();
                last_load = hottest;
            }
        }
}

TEST(Laws, SkewSlowsTheStep) {
    TinyDirectory const directory;
    auto const step = [&](char const* s) {
        return Simulated(directory.scenario,
                         {"workload.routing.source=zipf", "workload.batch_per_rank=240",
                          "workload.routing.same_for_all_layers=true", std::string("workload.routing.zipf_s=") + s})
            .step();
    };
    auto const even = step("0"), some = step("0.7"), much = step("2");
    EXPECT_LE(even, some);
    EXPECT_LE(some, much);
    EXPECT_LT(even, much);
}

// Without a switch core to congest, a port is all there is, and serialising at ports is what the flow model cannot
// beat.
TEST(Laws, OnOneSwitchTheAnalyticModelIsTheFasterOne) {
    TinyDirectory const directory;
    for (auto const* variant : {"fused", "pull", "alltoall"})
        for (auto const* seed : {"1", "2", "3", "4", "5"})
            for (auto const* source : {"uniform", "zipf"}) {
                Sets const sets{"workload.moe_layers=1", std::string("seed=") + seed,
                                std::string("workload.operators.variant=") + variant,
                                std::string("workload.routing.source=") + source};
                auto const flow = Simulated(directory.scenario, sets).step();
                auto const analytic = Simulated(directory.scenario, sets + Sets{"network.model=analytic"}).step();
                EXPECT_LE(analytic, flow + 1_ns) << variant << " seed " << seed << " " << source;
            }
}

TEST(Laws, EplbEvensOutTheRanks) {
    TinyDirectory const directory;
    for (auto const* seed : {"seed=1", "seed=2", "seed=3"}) {
        Sets const skewed{"workload.routing.source=zipf", "workload.routing.zipf_s=1", "workload.batch_per_rank=240",
                          "workload.experts.redundant=16", seed};
        Simulated const contiguous(directory.scenario, skewed);
        Simulated const eplb(directory.scenario, skewed + Sets{"workload.experts.placement=eplb"});
        EXPECT_LT(eplb.rank_imbalance(), contiguous.rank_imbalance()) << seed;
        EXPECT_LT(eplb.rank_imbalance(), 1.15) << seed;
        EXPECT_LE(eplb.step(), contiguous.step()) << seed;
    }
}

TEST(Laws, AnErrorBoundKeepsTheStepNear) {
    TinyDirectory const directory;
    auto const exact = Simulated(directory.scenario, {"network.flow.error=exact"}).step();
    auto const coarse = Simulated(directory.scenario, {"network.flow.error=5%"}).step();
    EXPECT_NEAR(static_cast<double>(coarse.ps()), static_cast<double>(exact.ps()),
                0.05 * static_cast<double>(exact.ps()));
}

}  // namespace
}  // namespace orrery::testing
