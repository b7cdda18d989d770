// SPDX-License-Identifier: Apache-2.0
// Text workloads of layers: groups, order, and what is wrong with them.
#include "import_testing.hpp"
#include "workloads/imports/layer_groups.hpp"

namespace orrery::test {
namespace {

using Tasks = std::vector<std::string>;
using Ranks = std::vector<std::uint32_t>;

// Members of the collective that a task of a rank joins.
Ranks members(Schedule const& schedule, std::uint32_t rank, std::uint32_t task) {
    auto const group = schedule.group(schedule.collective(schedule.program(rank).tasks()[task].peer).group);
    return {group.begin(), group.end()};
}

constexpr char const* micro_all_reduce =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8 checkpoints: 0 "
    "checkpoint_initiates: 0\n"
    "2\n"
    "embedding_layer -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n"
    "embedding_layer -1 556000 ALLREDUCE 67108864 1 NONE 0 1 NONE 0 1";

TEST(ImportLayers, ForwardThenBackwardFromTheLastLayer) {
    auto const import = import_text("micro.txt", micro_all_reduce);
    EXPECT_EQ(tasks_of(*import.schedule, 5),
              (Tasks{"compute 556000000ps", "all-reduce 16777216B of 8 <0", "compute 556000000ps <1",
                     "all-reduce 67108864B of 8 <2", "compute 1000ps <3", "compute 1000ps <4", "compute 1000ps <5",
                     "compute 1000ps <6"}));
}

TEST(ImportLayers, RanksBeyondAllGpusAreIdleAndSaidToBe) {
    auto const import = import_text("micro.txt", micro_all_reduce, for_ranks(64));
    EXPECT_EQ(import.schedule->ranks(), 8U);
    EXPECT_TRUE(mentions(import.report.assumptions, "56 of 64 ranks are idle"));
    EXPECT_TRUE(mentions(import.report.assumptions, "TP 8 (consecutive ranks)"));
}

TEST(ImportLayers, GroupsAreThoseOfSimAI) {
    auto const groups = layer_groups({.ranks = 16, .tensor = 2, .data = 4, .pipeline = 2, .expert = 2});
    auto const& [tensor, data, expert, data_of_expert] = groups;
    EXPECT_EQ(tensor.members(tensor.of(5)), (Ranks{4, 5}));
    EXPECT_EQ(data.members(data.of(5)), (Ranks{1, 5, 9, 13}));
    EXPECT_EQ(expert.members(expert.of(5)), (Ranks{5, 7}));
    EXPECT_EQ(data_of_expert.members(data_of_expert.of(5)), (Ranks{1, 5}));
    EXPECT_EQ(data_of_expert.members(data_of_expert.of(14)), (Ranks{10, 14}));
    for (auto const& kind : groups) {
        std::uint32_t ranks = 0;
        for (std::uint32_t g = 0; g < kind.count(); ++g) ranks += static_cast<std::uint32_t>(kind.members(g).size());
        EXPECT_EQ(ranks, 16U);
    }
}

TEST(ImportLayers, AnExpertGroupExistsWhereTensorParallelismIs1) {
    auto const import =
        import_text("moe.txt",
                    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 8 pp: 1 vpp: 1 ga: 1 "
                    "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n1\n"
                    "mlp_moelayer -1 1 ALLTOALL_EP 8388608 0 NONE 0 0 ALLREDUCE_DP_EP 64 0\n");
    EXPECT_EQ(members(*import.schedule, 9, 1), (Ranks{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_EQ(members(*import.schedule, 9, 2), (Ranks{1, 9}));
}

TEST(ImportLayers, WeightGradientsOverlapAndTheNextStepWaitsForThem) {
    auto options = for_ranks(4);
    options.passes = 2;
    auto const import = import_text("two.txt",
                                    "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n2\n"
                                    "a -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 100 7\n"
                                    "b -1 40 NONE 0 50 ALLREDUCE 200 60 ALLREDUCE 300 0\n",
                                    options);
    EXPECT_EQ(
        tasks_of(*import.schedule, 0),
        (Tasks{
            "compute 10000ps",       "compute 40000ps <0",       "compute 50000ps <1",       "all-reduce 200B of 2 <2",
            "compute 60000ps <3",    "all-reduce 300B of 2 <4",  // b's weights, overlapped
            "compute 20000ps <4",    "compute 30000ps <6",       "all-reduce 100B of 2 <7",  "compute 7000ps <8",
            "compute 10000ps <7 <9", "compute 40000ps <5 <10",  // the second step
            "compute 50000ps <11",   "all-reduce 200B of 2 <12", "compute 60000ps <13",      "all-reduce 300B of 2 <14",
            "compute 20000ps <14",   "compute 30000ps <16",      "all-reduce 100B of 2 <17", "compute 7000ps <18"}));
    EXPECT_EQ(members(*import.schedule, 1, 3), (Ranks{0, 1}));  // TP
    EXPECT_EQ(members(*import.schedule, 1, 5), (Ranks{1, 3}));  // DP
}

TEST(ImportLayers, RecomputingGoesBackToTheCheckpoint) {
    auto const import = import_text("re.txt",
                                    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 1 0 "
                                    "checkpoint_initiates: 1 1\n2\n"
                                    "a -1 1 NONE 0 10 NONE 0 100 NONE 0 0\nb -1 2 NONE 0 20 NONE 0 200 NONE 0 0\n",
                                    for_ranks(2));
    EXPECT_EQ(tasks_of(*import.schedule, 0),
              (Tasks{"compute 1000ps", "compute 2000ps <0", "compute 1000ps <1", "compute 2000ps <2",
                     "compute 20000ps <3", "compute 200000ps <4", "compute 10000ps <5", "compute 100000ps <6"}));
    EXPECT_EQ(count_of(import.report.contents, "layers computed again"), 2);
}

TEST(ImportLayers, PoliciesOfAstraSim1) {
    auto const first = [](char const* policy) {
        auto const import = import_text(
            "p.txt", fmt::format("{}\n1\nl -1 1 ALLGATHER 10 2 ALLREDUCE 20 3 ALLREDUCE 30 0\n", policy), for_ranks(4));
        return tasks_of(*import.schedule, 0);
    };
    EXPECT_EQ(first("MICRO"), Tasks{"all-reduce 30B of 4"});
    EXPECT_EQ(first("DATA"), (Tasks{"compute 1000ps", "compute 3000ps <0", "all-reduce 30B of 4 <1"}));
    EXPECT_EQ(first("MODEL"),
              (Tasks{"compute 1000ps", "all-gather 40B of 4 <0", "compute 2000ps <1", "compute 3000ps <2"}));
}

TEST(ImportLayers, AnUnknownSuffixIsRefusedByLineWithTheKnownOnes) {
    std::string const text =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n2\n"
        "a -1 1 ALLTOALL_EP 8 1 NONE 0 1 NONE 0 1\n"
        "b -1 1 ALLTOALL_XY 8 1 NONE 0 1 GOSSIP 0 1\n";
    EXPECT_EQ(
        import_complaint("w.txt", text),
        "w.txt:4: the suffix of ALLTOALL_XY is '_XY' (known: none, _EP and _DP_EP) correct it; lenient: no "
        "communication, as SimAI takes it\n"
        "w.txt:4: the collective is 'GOSSIP' (known: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, "
        "ALLREDUCEALLTOALL and BROADCAST, each with _EP or _DP_EP) correct it; lenient: no communication, as SimAI "
        "takes it");
    EXPECT_EQ(import_text("w.txt", text, lenient()).report.mended_count, 2);
}

TEST(ImportLayers, CountsAndTimesThatAreWrong) {
    EXPECT_EQ(
        import_complaint("w.txt",
                         "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n3\n"
                         "a -1 3000000000 NONE 0 1 NONE 0 1 NONE 0 1\nb -1 x NONE 0 1\n"),
        "w.txt:2: the header says 3 layers, 1 found (the file is cut short, or the count is wrong) correct the "
        "count; lenient: 1 are used\n"
        "w.txt:3: the compute time is 3000000000 (beyond 2^31 - 1, which the format's own tool cannot hold) correct "
        "it; lenient: taken in full\n"
        "w.txt:4: a layer has 6 columns (12: name, dependency, then time, collective and bytes of forward, input "
        "gradient and weight gradient, and the update time) correct the line");
    auto const import = import_text("w.txt",
                                    "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n1\n"
                                    "a -1 3000000000 NONE 0 0 NONE 0 0 NONE 0 1\n",
                                    lenient());
    EXPECT_EQ(tasks_of(*import.schedule, 0), Tasks{"compute 3000000000000ps"});
}

TEST(ImportLayers, SizesThatDoNotDivideAreRefusedWithTheNearest) {
    auto const complaint = [](char const* header) {
        return import_complaint("w.txt",
                                fmt::format("HYBRID_TRANSFORMER {}\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", header));
    };
    EXPECT_EQ(
        complaint("model_parallel_NPU_group: 8 ep: 1 pp: 3 all_gpus: 100"),
        "w.txt:1: 100 ranks with model_parallel_NPU_group 8 and pp 3 (the product 24 does not divide the ranks) use "
        "96 or 120 ranks");
    EXPECT_EQ(complaint("model_parallel_NPU_group: 2 ep: 3 pp: 1 all_gpus: 16"),
              "w.txt:1: ep is 3 and the data-parallel size 8 (ep must divide 16 ranks / 2 / 1) correct it");
    EXPECT_NE(complaint("model_parallel_NPU_group: 2").find("give the number of ranks"), std::string::npos);
}

TEST(ImportLayers, ALargeWorkloadIsHeldByRule) {
    std::string text =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 16 pp: 12 vpp: 8 ga: 24 all_gpus: 9216\n500\n";
    for (int i = 0; i < 500; ++i) text += "a -1 1 ALLREDUCE 5000000000 1 ALLTOALL_EP 8 1 ALLGATHER_DP_EP 8 1\n";
    auto const import = import_text("w.txt", text);
    // 500 layers x (4,608 TP + 576 EP + 384 DP_EP groups).
    EXPECT_EQ(import.schedule->collective_count(), 500U * (4608 + 576 + 384));
    EXPECT_EQ(members(*import.schedule, 9215, 1), (Ranks{9214, 9215}));
    EXPECT_EQ(count_of(import.report.ignored, "pipeline: 12 stages"), 1);
}

}  // namespace
}  // namespace orrery::test
