// SPDX-License-Identifier: Apache-2.0
// Topology files of other simulators: small ones of our own, what is refused and by which line, and the real ones where
// they are at hand.
#include "netmodels/topology/files/topology_files.hpp"
#include "tests/netmodels/fabric_testing.hpp"
#include "tests/workloads/shared_data.hpp"

#include <filesystem>

namespace orrery::testing {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<GraphFabric> ns3(std::string const& text, Strictness strictness = Strictness::strict,
                                 Balancing balancing = Balancing::spray) {
    return make_graph_fabric(read_ns3_topology(TopologyText("t.txt", text), strictness),
                             {.kind = "file", .balancing = balancing});
}
std::string ns3_error(std::string const& text) {
    return input_error([&] { ns3(text); });
}
std::string const parallel =
    "6 2 8\n4 5\n0 4 100Gbps 0.001ms 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
    "3 5 1e11 1000ns 0\n4 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n"
    "4 5 100Gbps 1us 0\n";

TEST(Ns3Topology, ParallelLinksCarryFourTimesOne) {
    auto const fabric = ns3(parallel);
    EXPECT_EQ(fabric->rank_count(), 4U);
    EXPECT_EQ(fabric->links().size(), 16U);
    auto const route = fabric->route(RankId{0}, RankId{2});
    EXPECT_EQ(fabric->bundles()[route.hops[1].index()].capacity, 400_Gbps);
    EXPECT_EQ(route.latency, 3_us);
    EXPECT_EQ(route.cap, 100_Gbps);
    EXPECT_EQ(fabric->node_name(NodeId{4}), "s4");
    auto const hashed = ns3(parallel, Strictness::strict, Balancing::ecmp);
    auto const one = hashed->route(RankId{0}, RankId{2});
    EXPECT_EQ(hashed->bundles()[one.hops[1].index()].capacity, 100_Gbps);
}

TEST(Ns3Topology, NvSwitchesAreNoRanks) {
    std::string const text =
        "7 2 2 1 8 A100\n4 5 6\n0 4 2400Gbps 25ns 0\n1 4 2400Gbps 25ns 0\n2 5 2400Gbps 25ns 0\n"
        "3 5 2400Gbps 25ns 0\n0 6 100Gbps 500ns 0\n1 6 100Gbps 500ns 0\n2 6 100Gbps 500ns 0\n"
        "3 6 100Gbps 500ns 0\n";
    auto const fabric = ns3(text);
    EXPECT_EQ(fabric->rank_count(), 4U);
    EXPECT_EQ(fabric->ranks_per_block(), 2U);
    EXPECT_EQ(fabric->node_name(NodeId{4}), "nvs4");
    EXPECT_EQ(fabric->notes().size(), 1U) << "the type of GPU";
    EXPECT_EQ(fabric->route(RankId{0}, RankId{1}).latency, 50_ns) << "the switch is two hops away as well";
    EXPECT_EQ(fabric->route(RankId{1}, RankId{0}).latency, 50_ns);
    EXPECT_EQ(fabric->route(RankId{0}, RankId{2}).latency, 1_us);
}

TEST(Ns3Topology, WhatContradictsItselfIsRefusedByLine) {
    auto const has = [](std::string const& error, std::string const& part) {
        EXPECT_NE(error.find(part), error.npos) << error << "\nlacks " << part;
    };
    has(ns3_error("6 2 9" + parallel.substr(5)), "t.txt:10: the header says 9 links, 8 found, 1 missing");
    has(ns3_error("6 2 7" + parallel.substr(5)), "t.txt:10: the header says 7 links, 8 found, first surplus line 10");
    has(ns3_error("3 1 2\n2\n0 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n"), "t.txt:4: node 3");
    has(ns3_error("3 2 2\n2 2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"), "t.txt:2: switch 2 is listed twice");
    has(ns3_error("3 1 2\n2\n0 2 1Gbqs 1us 0\n1 2 1Gbps 1us 0\n"), "t.txt:3: the rate is '1Gbqs'");
    has(ns3_error("3 1 2\n2\n0 2 1Gbps 1 0\n1 2 1Gbps 1us 0\n"), "t.txt:3: the delay is '1'");
    has(ns3_error("3000000000 1 2\n2\n"), "t.txt:1: the number of nodes is 3000000000 (numbers go up to 2^31 - 1)");
    has(ns3_error("2000000000 1 2\n2\n"), "too short");
    has(ns3_error("3 1 2\n2\n0 0 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"), "t.txt:3: a link from h0 to itself");
    has(ns3_error("3 1 2\n2\n0 2 1Gbps 1us 0\n0 2 1Gbps 1us 0\n"), "h1 has no link");
    has(ns3_error("3 1\n"), "t.txt:1: the header has fewer");
    has(input_error([] { TopologyText("t.txt", "\n  # nothing\n"); }), "empty");
}

TEST(Ns3Topology, LenientTakesSurplusThatFitsAndListsIt) {
    auto const taken = ns3("6 2 7" + parallel.substr(5), Strictness::lenient);
    EXPECT_EQ(taken->links().size(), 16U);
    ASSERT_EQ(taken->notes().size(), 1U);
    EXPECT_NE(taken->notes()[0].find("all are used"), std::string::npos) << taken->notes()[0];
    auto const left = ns3(parallel + "7 9 100Gbps 1us 0\n", Strictness::lenient);
    EXPECT_EQ(left->links().size(), 16U);
    EXPECT_NE(left->notes()[0].find("the 1 lines after the counted 8 are ignored"), std::string::npos);
}

std::string const three_tiers =
    "Nodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
    "Radix_Up 2\nDownlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
    "Radix_Up 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 100\nBundle 1\n\nTier 2\n"
    "Downlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nBundle 2\n";

TEST(HtsimTopology, TiersBecomeAFatTree) {
    auto const fabric =
        make_graph_fabric(read_htsim_topology(TopologyText("t.topo", three_tiers), Strictness::strict), {});
    auto const figures = fabric->figures();
    EXPECT_EQ(figures.ranks, 8);
    EXPECT_EQ(figures.switches, 4 + 4 + 4);
    EXPECT_EQ(figures.links, 2 * (8 + 8 + 2 * 8));
    EXPECT_EQ(figures.diameter_hops, 6);
    EXPECT_EQ(fabric->route(RankId{0}, RankId{7}).latency, 6_us + 100_ns * 2) << "two middle switches";
    EXPECT_EQ(figures.bisection, 800_Gbps);
    auto text = three_tiers;
    text.replace(text.find("Radix_Down 4"), 12, "Radix_Down 5");
    auto const error = input_error([&] { read_htsim_topology(TopologyText("t.topo", text), Strictness::strict); });
    EXPECT_NE(error.find("t.topo:19: Radix_Down is 5"), error.npos) << error;
    EXPECT_NE(
        input_error([&] { read_htsim_topology(TopologyText("t", three_tiers + "Colour 3\n"), Strictness::strict); }),
        "");
    EXPECT_EQ(read_htsim_topology(TopologyText("t", three_tiers + "Colour 3\n"), Strictness::lenient).notes.size(), 1U);
}

TEST(AstraNetwork, AGigabyteIsTwoToTheThirty) {
    TopologyText const text("n.yml",
                            "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25 ]  # GB/s\n"
                            "latency: [ 500.0, 0 ]\n");
    auto const shape = read_astra_network(text, Strictness::strict);
    ASSERT_EQ(shape.dimensions.size(), 2U);
    EXPECT_EQ(shape.dimensions[0].rate.bits_per_s(), 50LL * 8 * (1LL << 30));
    EXPECT_EQ(shape.dimensions[0].latency, 500_ns);
    EXPECT_EQ(shape.dimensions[1].kind, ProductDimension::Kind::switched);
    EXPECT_NE(shape.notes[0].find("53.687"), std::string::npos) << shape.notes[0];
    auto const refused = [](std::string const& content) {
        return input_error([&] { read_astra_network(TopologyText("n.yml", content), Strictness::strict); });
    };
    EXPECT_NE(
        refused("topology: [ Rung ]\nnpus_count: [ 4 ]\nbandwidth: [ 5 ]\nlatency: [ 5 ]\n").find("n.yml:1: 'Rung'"),
        std::string::npos);
    EXPECT_NE(
        refused("topology: [ Ring ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 5 ]\nlatency: [ 5 ]\n").find("n.yml:2: 2"),
        std::string::npos);
    EXPECT_NE(refused("topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 5 ]\n").find("latency is missing"),
              std::string::npos);
    TopologyText const logical("d.json", "{\n \"logical-dims\": [\"8\",\"2\"]\n}\n");
    EXPECT_EQ(read_astra_dimensions(logical, 50_GBps, 500_ns).dimensions[0].size, 8U);
}

scenario::FabricSpec file(fs::path const& path, bool lenient) {
    scenario::FabricSpec spec;
    spec.set_kind("file");
    auto& d = *spec.mutable_file();
    d.set_path(path.string());
    d.set_format("auto");
    d.set_lenient(lenient);
    d.set_load_balancing("spray");
    d.set_link_rate(giga_bytes(50));
    d.set_link_latency((500_ns).ps());
    return spec;
}

// ranks and links (both ways) of each, as its header or a count of its lines says.
TEST(RealTopologies, AreReadOrRefusedForAReason) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const data = test::shared_data() / "realfiles";
    struct Known {
        char const* path;
        bool lenient;
        std::uint32_t ranks;
        std::size_t links;  // of the file's own, both directions; routers of ranks come on top
        char const* refusal;
    };
    for (auto const& [path, lenient, ranks, links, refusal] :
         {Known{"ns3_hpcc/topology.txt", false, 0, 0, "the header says 65 links"},
          {"ns3_hpcc/topology.txt", true, 65, 2 * 65, ""},
          {"ns3_hpcc/fat.txt", false, 320, 2 * 480, ""},
          {"ns3_hpcc/ali_32host_10rack.txt", false, 320, 2 * 800, ""},
          {"ns3_hpcc/powertcp_topology-256.txt", false, 256, 2 * 288, ""},
          {"htsim/fat_tree_1024.topo", false, 1024, 2 * (1024 + 1024 + 1024), ""},
          {"htsim/leaf_spine_tiny.topo", false, 32, 2 * (32 + 8), ""},
          {"htsim/leaf_spine_128_1os.topo", false, 128, 2 * (128 + 128), ""},
          {"htsim/leaf_spine_128_8os.topo", false, 128, 2 * (128 + 16), ""},
          {"htsim/uec_leaf_spine_8192_100g_8_to_1.topo", false, 8192, 2 * (8192 + 1024), ""},
          {"htsim/parking.topo", false, 16, 2 * (16 + 4), ""},
          {"htsim/test.topo", false, 8, 2 * (8 + 8 + 16), ""},
          {"astra_config/HGX-H100-validated.yml", false, 8, 16, ""},
          {"astra_config/Ring_8npus.yml", false, 8, 16 + 16, ""},
          {"astra_config/ns3_logical_16nodes_2D.json", false, 16, 2 * (16 + 16 + 16), ""},
          {"issues_transcribed/open/hpcc_43_parallel_links.topo", false, 8, 2 * 12, ""},
          {"issues_transcribed/open/simai_51_linkcount_mismatch.topo", false, 0, 0,
           "the header says 20 links, 24 found, first surplus line 23"},
          {"issues_transcribed/open/simai_51_linkcount_mismatch.topo", true, 8, 2 * 24, ""},
          {"issues_transcribed/open/simai_19_direct_links_one_nvswitch.topo", false, 6, 2 * 14 + 2 * 6, ""},
          {"booksim/anynet_file", false, 0, 0, "begins no format that is known"}}) {
        std::unique_ptr<Fabric> fabric;
        auto const error = input_error([&] { fabric = make_fabric(file(data / path, lenient), 1); });
        if (*refusal != '\0') {
            EXPECT_NE(error.find(refusal), error.npos) << path << ": " << error;
            continue;
        }
        ASSERT_EQ(error, "") << path;
        EXPECT_EQ(fabric->rank_count(), ranks) << path;
        EXPECT_EQ(fabric->links().size(), links) << path;
        EXPECT_GT(fabric->route(RankId{0}, RankId{ranks - 1}).cap, Rate{}) << path;
    }
}

}  // namespace
}  // namespace orrery::testing
