// SPDX-License-Identifier: Apache-2.0
// Chakra traces, as Protobuf and as JSON.
#include "import_testing.hpp"
#include "proto/chakra_et.pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

namespace orrery::test {
namespace {

using Tasks = std::vector<std::string>;
using chakra::Node;

// A file as a tracer writes it.
class TraceText {
  public:
    TraceText() {
        chakra::GlobalMetadata metadata;
        metadata.set_version("0.0.4");
        append(metadata);
    }
    TraceText& append(google::protobuf::Message const& message) {
        google::protobuf::io::StringOutputStream stream(&text_);
        google::protobuf::io::CodedOutputStream coded(&stream);
        auto const body = message.SerializeAsString();
        coded.WriteVarint32(static_cast<std::uint32_t>(body.size()));
        coded.WriteString(body);
        return *this;
    }
    std::string const& text() const { return text_; }

  private:
    std::string text_;
};

enum Type : int { load = 2, compute = 4, send = 5, receive = 6, collective = 7 };
Node make_node(std::uint64_t id, Type type, std::vector<std::uint64_t> const& data_deps = {}) {
    Node node;
    node.set_id(id);
    node.set_name(fmt::format("n{}", id));
    node.set_type(type);
    for (auto const on : data_deps) node.add_data_deps(on);
    return node;
}
chakra::Attribute& attribute(Node& node, char const* name) {
    auto* const added = node.add_attr();
    added->set_name(name);
    return *added;
}

// Files PREFIX.R.et that live as long as the object.
class TraceFiles {
  public:
    explicit TraceFiles(std::vector<std::string> const& texts, std::string const& groups = {}) {
        for (std::size_t rank = 0; rank < texts.size(); ++rank)
            files_.push_back(std::make_unique<TempFile>(fmt::format("trace.{}.et", rank), texts[rank]));
        if (!groups.empty()) files_.push_back(std::make_unique<TempFile>("trace.json", groups));
    }
    std::filesystem::path const& first() const { return files_.front()->path(); }
    Import import(ImportOptions const& options = {}) const { return import_file(first(), options); }
    std::string complaint(ImportOptions const& options = {}) const {
        auto said = test::complaint<InputError>([&] { import_file(first(), options); });
        auto const directory = first().parent_path().string() + "/";
        for (auto at = said.find(directory); at != std::string::npos; at = said.find(directory))
            said.erase(at, directory.size());
        return said;
    }

  private:
    std::vector<std::unique_ptr<TempFile>> files_;
};

TEST(ImportChakra, AttributesOfAnyTypeComputingMessagesAndDependencies) {
    auto first = make_node(10, compute);
    first.set_duration_micros(7);
    auto sends = make_node(0, send, {10});
    attribute(sends, "comm_size").set_uint64_val(131072);
    attribute(sends, "comm_dst").set_int32_val(1);
    attribute(sends, "comm_tag").set_string_val("4");
    attribute(sends, "comm_type").set_int64_val(5);
    auto later = make_node(12, compute, {0});
    later.add_ctrl_deps(10);
    later.set_duration_micros(1);
    auto receives = make_node(3, receive);
    attribute(receives, "comm_size").set_double_val(131072.0);
    attribute(receives, "comm_src").set_sfixed64_val(0);
    attribute(receives, "comm_tag").set_fixed32_val(4);
    TraceFiles const files(
        {TraceText().append(first).append(sends).append(later).text(), TraceText().append(receives).text()});
    auto const import = files.import();
    EXPECT_EQ(tasks_of(*import.schedule, 0),
              (Tasks{"compute 7000000ps", "send 131072B to 1 <0", "compute 1000000ps <0 <1"}));
    EXPECT_EQ(tasks_of(*import.schedule, 1), Tasks{"receive 131072B from 0"});
    EXPECT_EQ(count_of(import.report.contents, "data dependencies"), 2);
    EXPECT_EQ(count_of(import.report.contents, "control dependencies"), 1);
    EXPECT_EQ(import.report.files.size(), 2U);
}

Node make_collective(std::uint64_t id, std::int64_t type, std::int64_t bytes, char const* group = nullptr) {
    auto node = make_node(id, collective);
    attribute(node, "is_cpu_op").set_bool_val(false);
    attribute(node, "comm_type").set_int64_val(type);
    attribute(node, "comm_size").set_int64_val(bytes);
    if (group != nullptr) attribute(node, "pg_name").set_string_val(group);
    return node;
}

TEST(ImportChakra, EveryKindOfCollectiveAndAnAllGatherPerMember) {
    TraceText text;
    for (int type = 0; type < 10; ++type) text.append(make_collective(static_cast<std::uint64_t>(type), type, 1000));
    TraceFiles const files({text.text(), text.text()});
    EXPECT_EQ(tasks_of(*files.import().schedule, 1),
              (Tasks{"all-reduce 1000B of 2", "reduce 1000B of 2", "all-gather 2000B of 2", "gather 1000B of 2",
                     "scatter 1000B of 2", "broadcast 1000B of 2", "all-to-all 1000B of 2", "reduce-scatter 1000B of 2",
                     "reduce-scatter 1000B of 2", "barrier 0B of 2"}));
}

TEST(ImportChakra, GroupsStandInTheFileBesideTheTrace) {
    auto const of_group = [](char const* group) { return TraceText().append(make_collective(1, 0, 8, group)).text(); };
    TraceFiles const files({of_group("7"), of_group("x"), of_group("7")}, R"({"7": [2, 0], "x": [1]})");
    auto const import = files.import();
    auto const& schedule = *import.schedule;
    EXPECT_EQ(schedule.collective_count(), 2U);
    auto const of = schedule.program(2).tasks()[0].peer;
    EXPECT_EQ(of, schedule.program(0).tasks()[0].peer);
    auto const members = schedule.group(schedule.collective(of).group);
    EXPECT_EQ(std::vector(members.begin(), members.end()), (std::vector<std::uint32_t>{2, 0}));
    EXPECT_NE(TraceFiles({of_group("8")}, R"({"7": [0]})").complaint().find("trace.0.et: node 1: n1 is of group 8"),
              std::string::npos);
    EXPECT_NE(TraceFiles({of_group("8")}).complaint().find("no file of groups"), std::string::npos);
}

TEST(ImportChakra, UnknownFieldsAndAttributesAreCounted) {
    auto strange = make_node(1, compute);
    strange.set_duration_micros(1);
    strange.GetReflection()->MutableUnknownFields(&strange)->AddVarint(77, 5);
    attribute(strange, "colour").set_string_val("red");
    attribute(strange, "op_schema").set_string_val("aten::mm");
    auto const import = TraceFiles({TraceText().append(strange).text()}).import();
    EXPECT_EQ(count_of(import.report.ignored, "fields of nodes"), 1);
    EXPECT_EQ(count_of(import.report.ignored, "attribute colour"), 1);
    EXPECT_EQ(count_of(import.report.ignored, "attribute op_schema"), 0);  // a note of the tracer
}

TEST(ImportChakra, ComputeWithoutADurationIsPricedByTheRoofline) {
    auto arithmetic = make_node(1, compute), traffic = make_node(2, compute), nothing = make_node(3, compute);
    attribute(arithmetic, "num_ops").set_int64_val(1'000'000);
    attribute(arithmetic, "tensor_size").set_uint32_val(1'000);
    attribute(traffic, "num_ops").set_int64_val(1'000);
    attribute(traffic, "tensor_size").set_uint32_val(1'000'000);
    TempFile const system("system.json", R"({"peak-perf": 1, "local-mem-bw": 100, "roofline-enabled": 1,
        "all-reduce-implementation": ["ring", "ring"], "endpoint-delay": 10})");
    ImportOptions options;
    options.system = system.path();
    TraceFiles const files(
        {TraceText().append(arithmetic).append(traffic).append(nothing).append(make_collective(4, 0, 8)).text()});
    auto const import = files.import(options);
    // 10^6 operations at 10^12 per s; 10^6 bytes at 100 GB/s.
    EXPECT_EQ(tasks_of(*import.schedule, 0),
              (Tasks{"compute 1000000ps", "compute 10000000ps", "compute 0ps", "all-reduce 8B of 1"}));
    EXPECT_EQ(import.schedule->collective(0).algorithm, "ring");
    EXPECT_EQ(count_of(import.report.ignored, "system setting endpoint-delay"), 1);
    EXPECT_EQ(count_of(import.report.ignored, "compute nodes with neither"), 1);
    EXPECT_TRUE(mentions(import.report.warnings, "communication takes no time"));
}

TEST(ImportChakra, ACircleIsRefusedWithItsNodesOnly) {
    std::string const text =
        R"({"rank":0,"nodes":[{"id":9,"name":"before","type":"COMP_NODE","duration_micros":10},
            {"id":1,"name":"aten::a","type":"COMP_NODE","duration_micros":10,"data_deps":[3,9]},
            {"id":2,"name":"aten::b","type":"COMP_NODE","duration_micros":10,"data_deps":[1]},
            {"id":3,"name":"nccl:all_reduce","type":"COMM_COLL_NODE","comm_type":"ALL_REDUCE","comm_size":1048576,
             "data_deps":[2]},
            {"id":4,"name":"behind","type":"COMP_NODE","duration_micros":10,"data_deps":[3]}]})";
    EXPECT_EQ(
        import_complaint("cycle.json", text),
        "tasks wait for each other in a circle of 3: cycle.json: node 1 (aten::a of rank 0) -> cycle.json: node 2 "
        "(aten::b of rank 0) -> cycle.json: node 3 (nccl:all_reduce of rank 0) -> cycle.json: node 1 (aten::a of "
        "rank 0) (none of them can start) remove one dependency");
}

TEST(ImportChakra, DuplicateAndDanglingIdsAreRefusedOrListed) {
    auto first = make_node(1, compute), second = make_node(1, compute, {5});
    TraceFiles const files({TraceText().append(first).append(second).text()});
    EXPECT_EQ(
        files.complaint(),
        "trace.0.et: node 1: id 1 is used again (n1) (an id is of one node) give each node its own; lenient: "
        "dependencies mean the first\n"
        "trace.0.et: node 1: n1 waits for node 5 (data dependency) (the trace has no such node) correct it; lenient: "
        "left out");
    EXPECT_EQ(files.import(lenient()).report.mended_count, 2);
}

TEST(ImportChakra, AFileThatIsCutIsRefused) {
    auto whole = TraceText().append(make_collective(1, 0, 8)).text();
    auto const cut = whole.substr(0, whole.size() - 3);
    EXPECT_NE(TraceFiles({cut}).complaint().find("trace.0.et: byte"), std::string::npos)
        << TraceFiles({cut}).complaint();
}

TEST(ImportChakra, AMissingRankIsRefusedOrDoesWhatRank0Does) {
    TraceFiles const files({TraceText().append(make_collective(1, 0, 8)).text()});
    EXPECT_NE(files.complaint(for_ranks(2))
                  .find("rank 1 has no file trace.1.et (2 ranks) add it; lenient: it does what "
                        "rank 0 does"),
              std::string::npos);
    EXPECT_EQ(tasks_of(*files.import(lenient(for_ranks(2))).schedule, 1), Tasks{"all-reduce 8B of 2"});
}

TEST(ImportChakra, AMessageToARankWithoutAFileIsRefused) {
    auto sends = make_node(1, send);
    attribute(sends, "comm_size").set_int64_val(8);
    attribute(sends, "comm_dst").set_int64_val(3);
    EXPECT_NE(TraceFiles({TraceText().append(sends).text()})
                  .complaint()
                  .find("node 1: n1 names rank 3 (there are files "
                        "of 1 ranks"),
              std::string::npos);
}

TEST(ImportChakra, TheFeedersJsonHasOtherNames) {
    auto const import = import_text("small.json", R"({"workload_graph": [
        {"Id": 216, "Name": "a", "NodeType": 4, "ctrlDeps": [], "data_deps": [], "runtime": 318, "is_cpu_op": true},
        {"Id": 435, "Name": "k", "NodeType": 7, "ctrlDeps": [216], "data_deps": [216], "runtime": 28,
         "is_cpu_op": false}]})");
    EXPECT_EQ(tasks_of(*import.schedule, 0), (Tasks{"compute 318000000ps", "compute 28000000ps <0"}));
    EXPECT_EQ(count_of(import.report.ignored, "communication without comm_size"), 1);
}

}  // namespace
}  // namespace orrery::test
