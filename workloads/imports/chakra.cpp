// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces (one file per rank) as a schedule: computing, messages and collectives in the order that data
// and control dependencies leave.
#include "workloads/devices/roofline.hpp"
#include "workloads/imports/astra_system.hpp"
#include "workloads/imports/chakra_trace.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/schedule_draft.hpp"
#include "workloads/imports/text_file.hpp"
#include "workloads/models/json_file.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// What a rank computes with: one task of each at a time.
enum Stream : std::uint16_t { host = 0, device = 1, recorded_communication = 2 };

// PREFIX.R.et of every rank R, from any of them.
class RankFiles {
  public:
    explicit RankFiles(fs::path const& any) : any_(any) {
        auto const stem = any.stem().string();  // PREFIX.R
        auto const dot = stem.rfind('.');
        if (dot == std::string::npos || !whole_number(stem.substr(dot + 1))) return;  // a file of its own
        prefix_ = stem.substr(0, dot);
        std::error_code ignored;
        for (auto const& entry : fs::directory_iterator(any.has_parent_path() ? any.parent_path() : ".", ignored)) {
            auto const name = entry.path().filename().string();
            if (!name.starts_with(prefix_ + ".") || entry.path().extension() != any.extension()) continue;
            auto const number = whole_number(entry.path().stem().string().substr(prefix_.size() + 1));
            if (number && *number >= 0 && *number < most_imported_ranks)
                ranks_.insert(static_cast<std::uint32_t>(*number));
        }
    }
    std::uint32_t ranks() const { return ranks_.empty() ? 1 : *ranks_.rbegin() + 1; }
    bool has(std::uint32_t rank) const { return ranks_.empty() ? rank == 0 : ranks_.contains(rank); }
    fs::path path(std::uint32_t rank) const {
        if (ranks_.empty()) return any_;
        return any_.parent_path() / fmt::format("{}.{}{}", prefix_, rank, any_.extension().string());
    }
    fs::path groups() const { return any_.parent_path() / (prefix_ + ".json"); }
    bool numbered() const { return !ranks_.empty(); }

  private:
    fs::path any_;
    std::string prefix_;
    std::set<std::uint32_t> ranks_;
};

CollectiveOp op_of(std::int64_t comm_type) {
    constexpr CollectiveOp ops[] = {
        CollectiveOp::all_reduce,     CollectiveOp::reduce,    CollectiveOp::all_gather, CollectiveOp::gather,
        CollectiveOp::scatter,        CollectiveOp::broadcast, CollectiveOp::all_to_all, CollectiveOp::reduce_scatter,
        CollectiveOp::reduce_scatter, CollectiveOp::barrier};
    return ops[comm_type];
}

class ChakraReader {
  public:
    ChakraReader(fs::path const& path, ImportOptions const& options, Findings& findings)
        : files_(path),
          findings_(findings),
          system_(read_astra_system(options.system, findings)),
          device_(system_.device(options.device)),
          ranks_(std::max(options.ranks, files_.ranks())),
          draft_(ranks_, path.string(), FilePlace::Unit::node, findings) {
        auto const beside = files_.groups();
        std::error_code ignored;
        if (!options.groups.empty())
            read_groups(options.groups);
        else if (files_.numbered() && fs::is_regular_file(beside, ignored))
            read_groups(beside);
        world_.resize(ranks_);
        std::iota(world_.begin(), world_.end(), 0U);
    }

    std::unique_ptr<Schedule> read() {
        ChakraTrace first;
        findings_.report.files.clear();
        for (std::uint32_t rank = 0; rank < ranks_ && !findings_.full(); ++rank) {
            auto const file = files_.path(rank);
            if (files_.has(rank)) {
                auto trace = file.extension() == ".json" ? read_chakra_json(file, findings_)
                                                         : read_chakra_protobuf(file, findings_);
                findings_.report.files.push_back(trace.file);
                draft_.rank_file(rank, trace.file);
                add_rank(rank, trace);
                if (rank == 0) first = std::move(trace);
                continue;
            }
            findings_.mend({first.file.empty() ? file.string() : first.file},
                           fmt::format("rank {} has no file {}", rank, file.filename().string()),
                           fmt::format("({} ranks) add it", ranks_), "it does what rank 0 does");
            draft_.rank_file(rank, first.file);
            add_rank(rank, first);
        }
        findings_.raise_if_any();
        say_what_is_taken();
        return draft_.finish();
    }

  private:
    void read_groups(fs::path const& path) {
        auto const document = parse_json_file(path, "communicator groups");
        ORRERY_VALIDATE(document.is_object(), "{}: the groups are no JSON object (a list of ranks by name) correct it",
                        path.string());
        for (auto const& [name, members] : document.items()) {
            auto& group = groups_[name];
            for (auto const& rank : members) {
                ORRERY_VALIDATE(rank.is_number_unsigned() && rank.get<std::uint64_t>() < ranks_,
                                "{}: group {} names rank {} (there are {} ranks, from 0) correct it", path.string(),
                                name, rank.dump(), ranks_);
                group.push_back(rank.get<std::uint32_t>());
            }
            ORRERY_VALIDATE(!group.empty(), "{}: group {} is empty (it needs members) correct it", path.string(), name);
        }
        groups_file_ = path.string();
        findings_.contains("groups", static_cast<std::int64_t>(groups_.size()));
    }

    void add_rank(std::uint32_t rank, ChakraTrace const& trace) {
        std::unordered_map<std::uint64_t, std::uint32_t> task_of;
        for (auto const& node : trace.nodes) {
            auto const task = draft_.add(rank, task_for(rank, trace, node), node.id);
            if (!task_of.try_emplace(node.id, task).second)
                findings_.mend(trace.place(node), fmt::format("id {} is used again ({})", node.id, node.name),
                               "(an id is of one node) give each node its own", "dependencies mean the first");
        }
        std::uint32_t task = 0;
        for (auto const& node : trace.nodes) {
            for (auto const on : node.data_deps) require(rank, trace, node, task, on, "data", task_of);
            for (auto const on : node.control_deps) require(rank, trace, node, task, on, "control", task_of);
            ++task;
        }
    }

    void require(std::uint32_t rank, ChakraTrace const& trace, ChakraNode const& node, std::uint32_t task,
                 std::uint64_t on, std::string_view kind,
                 std::unordered_map<std::uint64_t, std::uint32_t> const& tasks) {
        auto const found = tasks.find(on);
        if (found == tasks.end()) {
            findings_.mend(trace.place(node), fmt::format("{} waits for node {} ({} dependency)", node.name, on, kind),
                           "(the trace has no such node) correct it", "left out");
            return;
        }
        draft_.require(rank, task, found->second);
        findings_.contains(kind == "data" ? "data dependencies" : "control dependencies");
    }

    ScheduleTask task_for(std::uint32_t rank, ChakraTrace const& trace, ChakraNode const& node) {
        ScheduleTask task{.kind = TaskKind::compute, .label = draft_.label(node.name)};
        if (node.on_host && node.type >= ChakraType::compute) {
            task.stream = host;
            task.duration = microseconds(node.duration_us);
            findings_.contains(node.type == ChakraType::compute ? "host nodes"
                                                                : "host sides of communication (recorded time)");
            return task;
        }
        switch (node.type) {
            case ChakraType::invalid:
            case ChakraType::metadata:
                findings_.ignores("nodes that do nothing (METADATA, INVALID)", trace.place(node));
                break;
            case ChakraType::memory_load:
            case ChakraType::memory_store:
                memory(trace, node, task);
                break;
            case ChakraType::compute:
                compute(trace, node, task);
                break;
            case ChakraType::send:
            case ChakraType::receive:
                message(trace, node, task);
                break;
            case ChakraType::collective:
                collective(rank, trace, node, task);
                break;
        }
        return task;
    }

    static Time microseconds(std::int64_t us) { return Time::from_ps(us * 1'000'000); }

    void compute(ChakraTrace const& trace, ChakraNode const& node, ScheduleTask& task) {
        task.stream = device;
        if (node.duration_us > 0 && !(system_.roofline && node.operations)) {
            task.duration = microseconds(node.duration_us);
            findings_.contains("compute nodes with a duration");
        } else if (node.operations && !(device_.bf16_ops_per_s() > 0 && device_.bytes_per_s() > 0)) {
            findings_.refuse(trace.place(node), fmt::format("{} has num_ops and no duration", node.name),
                             "(no device is given to price it) give a system file with peak-perf and local-mem-bw");
        } else if (node.operations && *node.operations >= 0 && node.tensor_bytes.value_or(0) >= 0) {
            task.duration = roofline(device_, {.what = node.name,
                                               .cube = Cube::bf16,
                                               .ops = static_cast<double>(*node.operations),
                                               .bytes = static_cast<double>(node.tensor_bytes.value_or(0))});
            findings_.contains("compute nodes priced by num_ops and tensor_size");
            priced_ = true;
        } else {
            findings_.ignores("compute nodes with neither a duration nor num_ops (they take no time)",
                              trace.place(node));
        }
    }

    void memory(ChakraTrace const& trace, ChakraNode const& node, ScheduleTask& task) {
        task.stream = device;
        task.duration = node.duration_us > 0 ? microseconds(node.duration_us)
                                             : roofline(device_, {.what = node.name,
                                                                  .cube = Cube::bf16,
                                                                  .bytes = static_cast<double>(std::max<std::int64_t>(
                                                                      0, node.tensor_bytes.value_or(0)))});
        if (task.duration == Time{})
            findings_.ignores("memory nodes with neither a duration nor tensor_size (they take no time)",
                              trace.place(node));
        findings_.contains("memory nodes (at the rate of the device's memory)");
    }

    // A size of a message or collective, or nothing when the node only has its recorded time.
    std::optional<std::int64_t> bytes(ChakraTrace const& trace, ChakraNode const& node, ScheduleTask& task) {
        if (node.comm_size && *node.comm_size >= 0) return node.comm_size;
        if (node.comm_size) {
            findings_.refuse(trace.place(node), fmt::format("{} has {} bytes", node.name, *node.comm_size),
                             "(a size from 0) correct comm_size");
            return std::nullopt;
        }
        task.stream = recorded_communication;
        task.duration = microseconds(node.duration_us);
        findings_.ignores("communication without comm_size (it takes its recorded time and no link)",
                          trace.place(node));
        return std::nullopt;
    }

    void message(ChakraTrace const& trace, ChakraNode const& node, ScheduleTask& task) {
        bool const sends = node.type == ChakraType::send;
        auto const size = bytes(trace, node, task);
        if (!size) return;
        auto const& peer = sends ? node.comm_target : node.comm_source;
        if (!peer || *peer < 0 || *peer >= ranks_) {
            findings_.refuse(trace.place(node),
                             peer ? fmt::format("{} names rank {}", node.name, *peer)
                                  : fmt::format("{} has no {}", node.name, sends ? "comm_dst" : "comm_src"),
                             files_.numbered()
                                 ? fmt::format("(there are files of {} ranks, from 0) add the file of the "
                                               "rank, or correct it",
                                               files_.ranks())
                                 : fmt::format("(there are {} ranks, from 0) correct it", ranks_));
            return;
        }
        auto const tag = node.tag.value_or(0);
        if (tag < 0 || tag > 0xffff'ffff) {
            findings_.refuse(trace.place(node), fmt::format("{} has tag {}", node.name, tag),
                             "(0 to 2^32 - 1) correct it");
            return;
        }
        task.kind = sends ? TaskKind::send : TaskKind::receive;
        task.peer = static_cast<std::uint32_t>(*peer);
        task.tag = static_cast<std::uint32_t>(tag);
        task.bytes = *size;
        findings_.contains(sends ? "sends" : "receives");
    }

    void collective(std::uint32_t rank, ChakraTrace const& trace, ChakraNode const& node, ScheduleTask& task) {
        constexpr std::int64_t types = 10;
        if (!node.comm_type || *node.comm_type < 0 || *node.comm_type >= types) {
            if (!node.comm_size) {
                bytes(trace, node, task);
                return;
            }
            findings_.refuse(trace.place(node),
                             node.comm_type ? fmt::format("{} is of collective type {}", node.name, *node.comm_type)
                                            : fmt::format("{} has no comm_type", node.name),
                             "(0 to 9: ALL_REDUCE to BARRIER) correct it");
            return;
        }
        auto const op = op_of(*node.comm_type);
        auto const size = op == CollectiveOp::barrier ? std::optional<std::int64_t>(0) : bytes(trace, node, task);
        if (!size) return;
        auto const* members = members_of(rank, trace, node);
        if (members == nullptr) return;
        auto const count = static_cast<std::int64_t>(members->size());
        if (node.some_dimensions)
            findings_.mend(trace.place(node), fmt::format("{} leaves out dimensions (involved_dim)", node.name),
                           "(groups have no dimensions here) give the members as a group", "all members take part");
        if (op == CollectiveOp::all_gather && *size > std::numeric_limits<std::int64_t>::max() / count) {
            findings_.refuse(trace.place(node), fmt::format("{} has {} bytes per member", node.name, *size),
                             "(too many) correct comm_size");
            return;
        }
        if (node.root.value_or(0) < 0 || node.root.value_or(0) >= count) {
            findings_.refuse(trace.place(node), fmt::format("{} has root {}", node.name, *node.root),
                             fmt::format("(the group has {} members, from 0) correct it", count));
            return;
        }
        CollectiveSpec spec{.group = draft_.group(*members),
                            .op = op,
                            .bytes = op == CollectiveOp::all_gather ? *size * count : *size,
                            .root = static_cast<std::uint32_t>(node.root.value_or(0)),
                            .algorithm = system_.algorithm(op),
                            .protocol = {},
                            .pair_bytes = {}};
        auto const number = instance(rank, std::move(spec));
        task.kind = TaskKind::collective;
        task.peer = number;
        findings_.contains(fmt::format("{} of {} members", name_of(op), count));
    }

    std::vector<std::uint32_t> const* members_of(std::uint32_t rank, ChakraTrace const& trace, ChakraNode const& node) {
        if (node.group.empty()) return &world_;
        auto const found = groups_.find(node.group);
        if (found == groups_.end()) {
            findings_.refuse(trace.place(node), fmt::format("{} is of group {}", node.name, node.group),
                             groups_file_.empty()
                                 ? "(no file of groups is given or lies beside the trace) give the JSON "
                                   "of communicators"
                                 : fmt::format("({} does not have it) add it", groups_file_));
            return nullptr;
        }
        if (std::find(found->second.begin(), found->second.end(), rank) == found->second.end()) {
            findings_.refuse(trace.place(node), fmt::format("{} is of group {}", node.name, node.group),
                             fmt::format("(rank {} is no member of it) correct the group", rank));
            return nullptr;
        }
        return &found->second;
    }

    // The n-th of its kind on a rank meets the n-th of its kind on the others.
    std::uint32_t instance(std::uint32_t rank, CollectiveSpec spec) {
        auto const key = std::tuple{spec.group, spec.op, spec.bytes, spec.root};
        auto& known = instances_[key];
        auto const turn = joined_[{rank, key}]++;
        if (turn == known.size()) known.push_back(draft_.collective(std::move(spec)));
        return known[turn];
    }

    void say_what_is_taken() {
        findings_.assumes(
            "durations are microseconds; nodes of the host, and compute nodes of the device, run one at a "
            "time each, the lowest in the file first");
        findings_.assumes("communication starts when its dependencies are over, any number at once");
        findings_.assumes(
            "comm_size of an all-gather is what one member gives, of the others the buffer of one member, "
            "as ASTRA-sim takes them");
        findings_.assumes("the n-th collective of a group, kind and size on one rank meets the n-th on the others");
        if (groups_file_.empty()) findings_.assumes("collectives are of all ranks");
        if (priced_)
            findings_.assumes(
                fmt::format("compute without a duration takes max(num_ops / {:.4g} per s, tensor_size / "
                            "{:.4g} B/s)",
                            device_.bf16_ops_per_s(), device_.bytes_per_s()));
    }

    using Key = std::tuple<std::uint32_t, CollectiveOp, std::int64_t, std::uint32_t>;
    RankFiles files_;
    Findings& findings_;
    AstraSystem system_;
    Device device_;
    std::uint32_t ranks_;
    ScheduleDraft draft_;
    std::map<std::string, std::vector<std::uint32_t>> groups_;
    std::string groups_file_;
    std::vector<std::uint32_t> world_;
    std::map<Key, std::vector<std::uint32_t>> instances_;
    std::map<std::pair<std::uint32_t, Key>, std::size_t> joined_;
    bool priced_ = false;
};

bool is_chakra(fs::path const& path, std::string_view head) {
    if (path.extension() == ".et") return true;
    auto const has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
    return head.starts_with('{') &&
           (has("\"workload_graph\"") || (has("\"nodes\"") && (has("COMP_NODE") || has("COMM_COLL_NODE") ||
                                                               has("COMM_SEND_NODE") || has("\"data_deps\""))));
}

ImporterRegistration const registered{
    {.name = "chakra",
     .title = "Chakra execution trace (.et per rank, or JSON)",
     .recognises = is_chakra,
     .read = [](fs::path const& path, ImportOptions const& options, Findings& findings) {
         return ChakraReader(path, options, findings).read();
     }}};

}  // namespace
}  // namespace orrery
