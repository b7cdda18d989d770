// SPDX-License-Identifier: Apache-2.0
// Every family of fabrics under the same exchange: on the analytic, the flow and the packet model, on 1 to 4 processes.
#include "apps/verify/in_memory_run.hpp"
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-matchers.h>

namespace orrery::testing {
namespace {

struct Family {
    char const* fabric;  // as a scenario writes it
    std::uint32_t ranks;
};

// Small ones of each, with more than one level where there are levels.
std::vector<Family> const families{
    {"{kind: fat_tree, fat_tree: {radix: 4}}", 16},
    {"{kind: fat_tree, fat_tree: {radix: 4, load_balancing: ecmp}}", 16},
    {"{kind: rail_optimised, rail_optimised: {servers: 4, gpus_per_server: 4, servers_per_unit: 2, spines: 2, "
     "attachment: dual_plane}}",
     16},
    {"{kind: torus, torus: {shape: 4x4}}", 16},
    {"{kind: mesh, mesh: {shape: 2x4x2}}", 16},
    {"{kind: hyperx, hyperx: {shape: 2x2, hosts_per_router: 4}}", 16},
    {"{kind: dimensions, dimensions: {dims: [{type: ring, size: 4}, {type: switch, size: 2}, {type: fully_connected, "
     "size: 2}]}}",
     16},
    {"{kind: full_mesh, full_mesh: {rack: 2x2, pod: 2x1, pods: 2}}", 16},
    {"{kind: ascend950, ascend950: {racks: 4, rack: 2x2}}", 16},
    {"{kind: dragonfly, dragonfly: {hosts_per_router: 2, routers_per_group: 2, groups: 4}}", 16},
    {"{kind: dragonfly, dragonfly: {hosts_per_router: 2, routers_per_group: 2, groups: 4, routing: valiant}}", 16},
    {"{kind: dragonfly_plus, dragonfly_plus: {hosts_per_leaf: 2, leaves: 2, spines: 2, groups: 4}}", 16},
    {"{kind: graph, graph: {path: graph.yaml}}", 16},
    // DGX-1: two quads joined all to all, and each GPU with its twin.
    {"{kind: graph, graph: {ranks: 8, links: [{a: h0..3, b: h0..3}, {a: h4..7, b: h4..7}, {a: h0..3, b: h4..7, "
     "pairing: zip}]}}",
     8},
};

char const* const graph =
    "ranks: 16\nswitches:\n  - {name: leaf, count: 4}\n  - {name: spine, count: 2}\nlinks:\n"
    "  - {a: h0..3, b: leaf0}\n  - {a: h4..7, b: leaf1}\n  - {a: h8..11, b: leaf2}\n"
    "  - {a: h12..15, b: leaf3}\n  - {a: 'leaf*', b: 'spine*', lanes: 2}\n";

class Fabrics : public ::testing::TestWithParam<Family> {
  protected:
    Job job(char const* model) const {
        return make_job(directory_.scenario, {std::string("network.model=") + model, "workload.moe_layers=1"});
    }
    struct Directory : TempDirectory {
        explicit Directory(Family const& family) {
            write("tiny.json", tiny_model);
            write("graph.yaml", graph);
            scenario = write("tiny.yaml", fmt::format("fabric: {}\nworkload: {{model: tiny.json, batch_per_rank: 24, "
                                                      "context: 1024, ep: {}}}\n",
                                                      family.fabric, family.ranks));
        }
        fs::path scenario;
    } directory_{GetParam()};
};

TEST_P(Fabrics, CarryAnExchangeOnEveryModel) {
    std::map<std::string, double> steps;
    for (auto const* model : {"analytic", "flow", "packet"}) {
        auto const one = job(model);
        Simulated const run(one);
        EXPECT_EQ(run.share.unfinished_ranks, 0) << model;
        ASSERT_FALSE(run.rows.collectives.empty());
        // The analytic model knows no contention inside the fabric, the bound does.
        bool const bounded = model != std::string("analytic");
        for (auto const& row : run.rows.collectives)
            EXPECT_GE(row.last_end - row.first_start, bounded ? row.bound : Time{}) << model;
        EXPECT_EQ(run.share.transfers.injected_bytes, run.share.transfers.delivered_bytes);
        for (std::uint32_t const processes : {2U, 3U, 4U})
            EXPECT_EQ(run.share.digest, run_in_memory(one, processes).digest) << model << ' ' << processes;
        steps[model] = run.step().seconds();
    }
    // No contention inside the fabric; at ports one transfer after another, where flows share.
    EXPECT_LE(steps["analytic"], steps["flow"] * 1.01);
    EXPECT_NEAR(steps["packet"] / steps["flow"], 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, Fabrics, ::testing::ValuesIn(families),
                         [](auto const& family) { return fmt::format("f{}", family.index); });

class FabricCommands : public ::testing::Test {
  protected:
    TinyDirectory directory_;
    Finished run(std::vector<std::string> arguments) { return orrery(std::move(arguments), directory_.path()); }
};

TEST_F(FabricCommands, TopologyExportsEveryNodeAndLink) {
    std::vector<std::string> const fabric{"--set", "fabric.kind=fat_tree", "--set", "fabric.fat_tree.radix=4"};
    auto const with = [&](char const* format) {
        std::vector<std::string> arguments{"topology", "tiny.yaml", format};
        arguments.insert(arguments.end(), fabric.begin(), fabric.end());
        return run(arguments);
    };
    auto const json = with("--json");
    ASSERT_EQ(json.code, 0) << json.err;
    auto const data = nlohmann::json::parse(json.out);
    EXPECT_EQ(data["figures"]["ranks"], 16);
    EXPECT_EQ(data["nodes"].size(), 36U);
    EXPECT_EQ(data["links"].size(), 96U);
    EXPECT_EQ(data["links"][0]["name"], "h00-p0.e0.up");
    EXPECT_EQ(data["bundles"][data["links"][95]["bundle"].get<std::size_t>()]["name"], "p3.a*-c*.down");
    auto const dot = with("--dot");
    EXPECT_THAT(dot.out, ::testing::StartsWith("graph \"fat_tree\" {"));
    EXPECT_THAT(dot.out, ::testing::HasSubstr("\"p0.e0\" -- \"p0.a0\""));
    auto const svg = with("--svg");
    EXPECT_THAT(svg.out, ::testing::StartsWith("<svg "));
    EXPECT_THAT(svg.out, ::testing::HasSubstr("<title>h00 - p0.e0: 50 GB/s"));
    EXPECT_EQ(run({"topology", "tiny.yaml"}).code, 2) << "which format?";
}

TEST_F(FabricCommands, AGraphIsRefusedByLineOfItsOwnFile) {
    directory_.write("graph.yaml", "ranks: 8\nswitches:\n  - {name: s}\nlinks:\n  - {a: h0..7, b: s, rate: 4Gbs}\n");
    auto const finished =
        run({"check", "tiny.yaml", "--set", "fabric.kind=graph", "--set", "fabric.graph.path=graph.yaml"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, ::testing::HasSubstr("graph.yaml:5:"));
}

TEST_F(FabricCommands, CheckTellsWhatAFileWasNotTakenFor) {
    directory_.write("t.txt",
                     "9 1 7\n8\n0 8 100Gbps 1us 0\n1 8 100Gbps 1us 0\n2 8 100Gbps 1us 0\n3 8 100Gbps 1us 0\n"
                     "4 8 100Gbps 1us 0\n5 8 100Gbps 1us 0\n6 8 100Gbps 1us 0\n7 8 100Gbps 1us 0\n");
    std::vector<std::string> arguments{
        "check", "tiny.yaml", "--set", "fabric.kind=file", "--set", "fabric.file.path=t.txt"};
    auto const strict = run(arguments);
    EXPECT_EQ(strict.code, 2);
    EXPECT_THAT(strict.err, ::testing::HasSubstr("t.txt:10: the header says 7 links, 8 found, first surplus line 10"));
    arguments.insert(arguments.end(), {"--set", "fabric.file.lenient=true"});
    auto const lenient = run(arguments);
    EXPECT_EQ(lenient.code, 0) << lenient.err;
    EXPECT_THAT(lenient.out, ::testing::HasSubstr("ranks 8, switches 1, other nodes 0, links 16"));
    EXPECT_THAT(lenient.out, ::testing::HasSubstr("all are used"));
}

}  // namespace
}  // namespace orrery::testing
