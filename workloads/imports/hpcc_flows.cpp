// SPDX-License-Identifier: Apache-2.0
// flow.txt of HPCC and its relatives on ns-3: a count, then source, target, priority, port, bytes and start of each
// flow (third.cc of alibaba-edu/High-Precision-Congestion-Control).
#include "workloads/imports/flow_list.hpp"
#include "workloads/imports/host_nodes.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>

namespace orrery {
namespace {

class FlowReader {
  public:
    FlowReader(std::filesystem::path const& path, ImportOptions const& options, Findings& findings)
        : file_(path), fields_(file_, findings), findings_(findings), ranks_(options.ranks) {
        auto const& fabric = options.fabric_file;
        auto const topology = !options.topology.empty()                             ? options.topology
                              : !fabric.empty() && is_ns3_topology(head_of(fabric)) ? fabric
                                                                                    : std::filesystem::path{};
        if (topology.empty()) return;
        rank_of_ = host_ranks(topology, options.strictness);
        findings_.report.files.push_back(topology.string());
    }

    std::unique_ptr<Schedule> read() {
        file_.next_words();
        auto const header = file_.place();
        auto const counted = fields_.whole("the number of flows", file_.words().front());
        std::uint64_t first_surplus = 0;
        while (file_.next_words() && !findings_.full()) {
            if (!whole_number(file_.words().front())) {
                findings_.ignores("lines of text", file_.place());
                continue;
            }
            read_flow();
            if (static_cast<std::int64_t>(flows_.size()) > counted && first_surplus == 0)
                first_surplus = file_.line_number();
        }
        auto const found = static_cast<std::int64_t>(flows_.size());
        if (found != counted)
            findings_.mend(header, fmt::format("the header says {} flows, {} found", counted, found),
                           first_surplus > 0 ? fmt::format("(first surplus line {}) correct the count", first_surplus)
                                             : "(the file is cut short, or the count is wrong) correct the count",
                           fmt::format("{} are used", found));
        findings_.raise_if_any();
        return schedule();
    }

  private:
    void read_flow() {
        auto const& words = file_.words();
        if (words.size() != 5 && words.size() != 6)
            return findings_.refuse(file_.place(), fmt::format("a flow has {} columns", words.size()),
                                    "(source, target, priority, port, bytes, start; the port may be left out) "
                                    "correct the line");
        ListedFlow flow{.line = file_.line_number()};
        flow.source = rank(words[0]);
        flow.target = rank(words[1]);
        fields_.whole("the priority", words[2]);
        if (words.size() == 6) fields_.whole("the port", words[3]);
        flow.bytes = fields_.whole("the size", words[words.size() - 2], 0, Fields::Beyond::mended);
        auto const start = seconds_number(words.back());
        if (!start)
            findings_.refuse(file_.place(), fmt::format("the start is '{}'", words.back()),
                             "(not a number of seconds from 0) correct it");
        flow.start = start.value_or(Time{});
        if (words[0] == words[1])
            findings_.mend(file_.place(), fmt::format("node {} sends to itself", words[0]), "correct one of the two",
                           "a copy that uses no link");
        flows_.push_back(flow);
    }

    std::uint32_t rank(std::string_view word) {
        auto const node = fields_.whole("a node", word);
        if (rank_of_.empty()) {
            if (ranks_ > 0 && node >= ranks_)
                findings_.refuse(
                    file_.place(), fmt::format("node {} is named", node),
                    fmt::format("(there are {} ranks, from 0) give the topology file whose nodes they are", ranks_));
            constexpr std::int64_t most = most_imported_ranks;
            if (node >= most)
                findings_.refuse(file_.place(), fmt::format("node {} is named", node), "(too large) correct it");
            return static_cast<std::uint32_t>(std::min(node, most - 1));
        }
        if (static_cast<std::size_t>(node) < rank_of_.size() && rank_of_[static_cast<std::size_t>(node)])
            return *rank_of_[static_cast<std::size_t>(node)];
        findings_.refuse(file_.place(), fmt::format("node {} is named", node),
                         static_cast<std::size_t>(node) < rank_of_.size()
                             ? "(it is a switch of the topology) correct it"
                             : fmt::format("(the topology has {} nodes, from 0) correct it", rank_of_.size()));
        return 0;
    }

    std::unique_ptr<Schedule> schedule() {
        auto ranks = ranks_;
        for (auto const& flow : flows_) ranks = std::max(ranks, std::max(flow.source, flow.target) + 1);
        for (auto const& rank : rank_of_)
            if (rank) ranks = std::max(ranks, *rank + 1);
        ScheduleDraft draft(std::max(ranks, 1U), file_.name(), FilePlace::Unit::line, findings_);
        for (std::uint32_t i = 0; i < flows_.size(); ++i) add_flow(draft, flows_[i], i);
        findings_.contains("flows", static_cast<std::int64_t>(flows_.size()));
        if (!flows_.empty())
            findings_.ignores("priorities and ports (all flows are of one class; routes are chosen by the fabric)",
                              {file_.name(), flows_.front().line, FilePlace::Unit::line},
                              static_cast<std::int64_t>(flows_.size()));
        if (rank_of_.empty()) findings_.assumes("node N is rank N: no topology file says which nodes are switches");
        findings_.assumes("starts are seconds of simulated time, kept as they are");
        return draft.finish();
    }

    TextFile file_;
    Fields fields_;
    Findings& findings_;
    std::uint32_t ranks_;
    std::vector<std::optional<std::uint32_t>> rank_of_;  // node -> rank; empty: they are the same
    std::vector<ListedFlow> flows_;
};

// A line with one whole number, then lines of five or six columns that begin with two.
bool is_flow_list(std::filesystem::path const& path, std::string_view head) {
    LineWords lines(head);
    auto const first = lines.next();
    if (first.size() != 1 || !whole_number(first.front())) return false;
    // HPCC's list of nodes to trace looks alike when it is short.
    if (path.filename().string().find("trace") != std::string::npos) return false;
    auto const second = lines.next();
    if (second.empty()) return path.filename().string().find("flow") != std::string::npos;
    return (second.size() == 5 || second.size() == 6) && whole_number(second[0]) && whole_number(second[1]) &&
           decimal_number(second.back());
}

ImporterRegistration const registered{
    {.name = "hpcc-flows",
     .title = "flow list of HPCC and its relatives on ns-3 (flow.txt)",
     .recognises = is_flow_list,
     .read = [](std::filesystem::path const& path, ImportOptions const& options, Findings& findings) {
         return FlowReader(path, options, findings).read();
     }}};

}  // namespace
}  // namespace orrery
