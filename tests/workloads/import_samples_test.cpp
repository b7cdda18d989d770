// SPDX-License-Identifier: Apache-2.0
// Public files of other tools: each is imported, or refused for a reason that says what it is.
#include "import_testing.hpp"

#include <map>
#include <set>

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

// What a device gives where a trace has no durations.
ImportOptions sample_options() {
    ImportOptions options;
    options.available = 9'216;
    options.device = {.name = "A", .bf16_rate = 1e14, .memory_rate = 1e12};
    options.load = 0.01;
    options.duration = Time::from_ps(1'000'000);
    return options;
}

// Importer of a file, "foreign" where it is said to be something else, "refused" where its content is.
std::string fate(fs::path const& path, std::string& said) {
    try {
        auto const& importer = importer_of(path);
        said.clear();
        try {
            import_file(path, sample_options());
            return importer.name;
        } catch (InputError const& error) {
            said = error.what();
            return "refused " + importer.name;
        }
    } catch (InputError const& error) {
        said = error.what();
        return said.find("no importer knows") == std::string::npos ? "foreign" : "unknown";
    }
}

TEST(ImportSamples, EveryFileIsImportedOrRefusedForAStatedReason) {
    ORRERY_NEEDS_SHARED_DATA();
    // Kinds that a folder is expected to hold; the first of several ranks stands for all.
    std::map<std::string, std::string> const expected = {
        {"realfiles/chakra_et/all_reduce_8npus_1MB.0.et", "chakra"},
        {"realfiles/chakra_et/all_to_all_4npus_1MB.0.et", "chakra"},
        {"realfiles/chakra_et/custom_ring_allreduce_8npus.0.et", "refused chakra"},  // names ranks without a file
        {"realfiles/goal/binary_tree_32.goal", "goal"},
        {"realfiles/goal/one_send.goal", "goal"},
        {"realfiles/htsim/bidir.cm", "htsim-connections"},
        {"realfiles/htsim/incast.cm", "htsim-connections"},
        {"realfiles/htsim/one.cm", "htsim-connections"},
        {"realfiles/htsim/outcast_incast.cm", "htsim-connections"},
        {"realfiles/htsim/parking.cm", "htsim-connections"},
        {"realfiles/htsim/perm_1024n_1024c_0u_2000000b.cm", "htsim-connections"},
        {"realfiles/htsim/perm_16n_16c_2MB.cm", "htsim-connections"},
        {"realfiles/htsim/uec_a2a.cm", "refused htsim-connections"},  // counts 3,600 connections and has 240
        {"realfiles/htsim/uec_alltoall_serial_16n.cm", "htsim-connections"},
        {"realfiles/htsim/uec_foo2.cm", "htsim-connections"},
        {"realfiles/htsim/uec_gen_random_incast_8192n_32c_16us_1Ms.cm", "htsim-connections"},
        {"realfiles/issues_transcribed/open/chakra_cycle.json", "refused chakra"},
        {"realfiles/issues_transcribed/open/goal_deadlock_2ranks.goal", "refused goal"},
        {"realfiles/issues_transcribed/open/nccl_788_alltoallv_one_sided_zero.csv", "refused flow-table"},
        {"realfiles/issues_transcribed/open/simai_9_alltoall_ep.workload.txt", "layers"},
        {"realfiles/ns3_hpcc/AliStorage2019.txt", "flow-sizes"},
        {"realfiles/ns3_hpcc/FbHdp_distribution.txt", "flow-sizes"},
        {"realfiles/ns3_hpcc/GoogleRPC2008.txt", "flow-sizes"},
        {"realfiles/ns3_hpcc/WebSearch_distribution.txt", "flow-sizes"},
        {"realfiles/ns3_hpcc/flow.txt", "refused hpcc-flows"},  // counts 2 flows and has 256
        {"realfiles/ns3_hpcc/flow_tcp_0.txt", "hpcc-flows"},
        {"realfiles/ns3_hpcc/powertcp_flow-burstExp-256.txt", "refused hpcc-flows"},  // sizes of 10^12 bytes
        {"realfiles/simai_workload/ascend_allreduce_workload.txt", "layers"},
        {"realfiles/simai_workload/microAllReduce.txt", "layers"},
        {"realfiles/simai_workload/target_10t_workload.txt", "layers"},
        {"realfiles/simai_workload/workload_analytical.txt", "layers"},
        {"simai_astra/astra1_text_workload/workload__MLP_HybridParallel_Data_Model.txt", "refused layers"},
        {"simai_astra/astra1_text_workload/workload__MLP_HybridParallel_Model_Data.txt", "refused layers"},
        {"simai_astra/astra1_text_workload/workload__sample_per_layer_parallel_HybridCustomized.txt", "refused layers"},
        {"simai_astra/simai_workload/L65B-M1-C05_Llama65B_megatron_tp8_pp1_mbs1_A100.txt", "refused layers"},
    };
    std::map<std::string, int> fates;
    for (auto const* folder : {"realfiles", "simai_astra"})
        for (auto const& entry : fs::recursive_directory_iterator(shared_data() / folder)) {
            auto const path = entry.path();
            if (!entry.is_regular_file() || path.extension() == ".md") continue;
            // Any file of a trace reads all of them.
            if (path.extension() == ".et" && !path.stem().string().ends_with(".0")) continue;
            auto const name = fs::relative(path, shared_data()).string();
            std::string said;
            auto const got = fate(path, said);
            ++fates[got];
            auto const known = expected.find(name);
            bool const of_trace = name.starts_with("simai_astra/chakra_et/") && path.extension() == ".et";
            bool const of_layers =
                name.starts_with("simai_astra/simai_workload/") || name.find("1_text_workload/workload__") != name.npos;
            auto const wanted = known != expected.end() ? known->second
                                : of_trace              ? "chakra"
                                : of_layers             ? "layers"
                                                        : "";
            if (wanted.empty()) {
                EXPECT_TRUE(got == "foreign" || got == "unknown") << name << ": " << got << ": " << said;
            } else {
                EXPECT_EQ(got, wanted) << name << ": " << said;
            }
            EXPECT_TRUE(said.empty() || said.find('(') != said.npos) << name << ": " << said;
        }
    EXPECT_GT(fates["chakra"], 9);
    EXPECT_LT(fates["unknown"], 8);  // texts that are nothing but text
}

fs::path open_issue(char const* name) {
    return shared_data() / "realfiles/issues_transcribed/open" / name;
}
std::string refusal(fs::path const& path, ImportOptions const& options = {}) {
    return complaint<InputError>([&] { import_file(path, options); });
}

// SimAI #9: the all-to-all of an expert group of 2 moves half of the buffer per pair, and is of ranks 0 and 4.
TEST(ImportSamples, AllToAllOfAnExpertGroup) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const import = import_file(open_issue("simai_9_alltoall_ep.workload.txt"), {});
    auto const& schedule = *import.schedule;
    auto const task = schedule.program(0).tasks()[3];
    auto const spec = schedule.collective(task.peer);
    EXPECT_EQ(spec.op, CollectiveOp::all_to_all);
    EXPECT_EQ(spec.bytes, 8'388'608);
    auto const group = schedule.group(spec.group);
    EXPECT_EQ(std::vector(group.begin(), group.end()), (std::vector<std::uint32_t>{0, 4}));
}

// chakra #134: the shortest circle and nothing else; LogGOPSim: two receives before two sends; NCCL #788: both ends.
TEST(ImportSamples, InputsOfBugReportsAreRefusedWithTheirFault) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const circle = refusal(open_issue("chakra_cycle.json"));
    EXPECT_NE(circle.find("in a circle of 3"), std::string::npos) << circle;
    EXPECT_NE(circle.find("aten::b"), std::string::npos) << circle;
    EXPECT_NE(refusal(open_issue("goal_deadlock_2ranks.goal")).find("in a circle of 4"), std::string::npos);
    EXPECT_NE(refusal(open_issue("nccl_788_alltoallv_one_sided_zero.csv")).find("4->17 send 0, recv 1597440"),
              std::string::npos);
}

// Eight ranks of a tensor-, data- and pipeline-parallel step: every rank's collectives meet, and every message its end.
TEST(ImportSamples, ATraceOfEightRanksIsWhole) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const path = shared_data() / "simai_astra/chakra_et/stg_llama_dp2_tp2_pp2_2L/w.3.et";
    auto const import = import_file(path, sample_options());
    EXPECT_EQ(import.schedule->ranks(), 8U);
    EXPECT_EQ(import.report.files.size(), 8U);
    EXPECT_EQ(count_of(import.report.contents, "groups"), 16);
    EXPECT_EQ(count_of(import.report.contents, "sends"), count_of(import.report.contents, "receives"));
    EXPECT_GT(count_of(import.report.contents, "compute nodes priced"), 800);
}

// ASTRA-sim's ring all-reduce as messages: 8 ranks send 14 chunks of 131,072 bytes each, 2 (n-1) / n of 1 MiB.
TEST(ImportSamples, ARingOfMessages) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const path = shared_data() / "simai_astra/chakra_et/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et";
    auto const import = import_file(path, sample_options());
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        std::int64_t bytes = 0;
        for (auto const program = import.schedule->program(rank); auto const& task : program.tasks())
            bytes += task.kind == TaskKind::send ? task.bytes : 0;
        EXPECT_EQ(bytes, 14 * 131'072);
    }
}

}  // namespace
}  // namespace orrery::test
