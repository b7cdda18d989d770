// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/foreign.hpp"

#include "workloads/imports/host_nodes.hpp"
#include "workloads/imports/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

bool has(std::string_view head, std::string_view text) {
    return head.find(text) != std::string_view::npos;
}

// HPCC's list of nodes to trace: a count, and a line of that many numbers.
bool is_trace_list(std::string_view head) {
    LineWords lines(head);
    auto const first = lines.next();
    if (first.size() != 1 || !whole_number(first.front())) return false;
    auto const nodes = lines.next();
    return nodes.size() > 6 || static_cast<std::int64_t>(nodes.size()) == *whole_number(first.front());
}

// {"1": [0, 1], ...
bool is_group_list(std::string_view head) {
    auto const words = head.substr(0, head.find(']'));
    return words.starts_with("{\"") && words.find("\": [") != words.npos &&
           words.substr(words.find('[')).find_first_not_of("[ ,0123456789\n") == words.npos;
}

std::string kind_of_json(std::string_view head) {
    if (has(head, "\"traceEvents\""))
        return "is a profiler trace (Kineto, Chrome) of one rank's kernels (it does not say who waits for whom) "
               "convert "
               "it with chakra_converter and import the .et files";
    if (has(head, "\"model_type\"") || has(head, "\"architectures\""))
        return "is the config.json of a model (it says what is computed, not by whom) name it as workload.model";
    if (has(head, "-implementation\"") || has(head, "\"scheduling-policy\""))
        return "is a system file of ASTRA-sim (it chooses collective algorithms) give it as --system beside a trace";
    if (has(head, "\"logical-dims\""))
        return "is a logical topology of ASTRA-sim (a fabric) name it as fabric.file.path with fabric.kind file";
    if (has(head, "\"memory-type\""))
        return "is a memory file of ASTRA-sim (remote memory is not modelled) leave it out";
    if (has(head, "\"nodes\"") && has(head, "\"op_schema\""))
        return "is a PyTorch execution trace of one rank (operators of the host, without times) convert it with "
               "chakra_converter and import the .et files";
    if (has(head, "\"topologies-per-dim\""))
        return "is a network file of ASTRA-sim 1 (a fabric) describe it as "
               "fabric.kind dimensions";
    if (has(head, "\"link_bw\""))
        return "is a cluster of LLMServingSim (instances and memories, no work to do) "
               "describe the fabric and give a workload";
    if (has(head, "\"weight\""))
        return "is a list of expert loads (who sends to whom follows from a model) name it as workload.routing.file "
               "with "
               "workload.routing.source histogram";
    if (has(head, "\"ptrn\""))
        return "is an input of schedgen (it makes schedules) run schedgen and import the GOAL file";
    if (has(head, "\"apiVersion\"") || has(head, "\"schema_version\""))
        return "is a record of another tool's run (results and settings, no work to do) give its workload file";
    if (is_group_list(head))
        return "is a list of communicators (it says who belongs together, not what is done) give it as --groups with "
               "the .et files";
    if (has(head, "\"hash_ids\"") || has(head, "\"input_toks\""))
        return "is a trace of requests (serving is not driven by traces of requests) import a trace of work";
    if (has(head, "\"expert_count\"") || has(head, "\"expert_ids\""))
        return "is a trace of expert choices (who sends to whom follows from a model) name it as workload.routing.file "
               "with workload.routing.source trace";
    return {};
}

std::string kind_of_text(std::filesystem::path const& path, std::string_view head) {
    constexpr auto fabric = "(a fabric, not a workload) name it as fabric.file.path with fabric.kind file";
    auto const suffix = path.extension();
    auto const first = LineWords(head).next();
    auto const begins = [&](std::string_view word) { return !first.empty() && first.front() == word; };
    if (is_ns3_topology(head)) return fmt::format("is a topology of ns-3 (HPCC, SimAI) {}", fabric);
    if (is_trace_list(head)) return "is HPCC's list of nodes to trace (all links are measured) leave it out";
    if (begins("Nodes") && (has(head, "Tiers") || has(head, "Podsize")))
        return fmt::format("is a topology of htsim {}", fabric);
    if (suffix == ".topo") return fmt::format("is a topology {}", fabric);
    if (has(head, "npus_count")) return fmt::format("is a network file of ASTRA-sim {}", fabric);
    if (has(head, "ENABLE_QCN") || has(head, "PACKET_PAYLOAD_SIZE"))
        return "is a configuration of ns-3 (HPCC, SimAI) (settings of its packet model) say them as network.packet";
    if (has(head, "LPGROUPS") || has(head, "modelnet"))
        return "is a configuration of CODES (it names models and binary connection files) describe the fabric as "
               "fabric.kind dragonfly or fat_tree";
    if (has(head, "BookSim") || has(head, "num_vcs") || has(head, "Booksim") || begins("router") ||
        has(head, "Stanford Junior University"))
        return "is a configuration of BookSim (a network on a chip) describe the fabric as fabric.kind torus, "
               "dragonfly "
               "or graph";
    if (begins("<system") || has(head, "<system version"))
        return "is a topology of NCCL for one server (PCI trees and "
               "links without a network) describe the server as fabric.kind rail_optimised";
    if (has(head, "<algo "))
        return "is an algorithm of MSCCL (steps of one collective by chunks) name a collective "
               "algorithm of Orrery instead";
    if (has(head, "<graphs ")) return "is a graph dump of NCCL (channels of one server) leave it out";
    if (has(head, "numprocs=") && has(head, "fileprefix="))
        return "is the header of a DUMPI trace (binary, one file per rank) convert it with dumpi2ascii, or to GOAL";
    if (has(head, "num-npus:"))
        return "is a network file of ASTRA-sim 1 (settings of Garnet) describe the fabric as "
               "fabric.kind torus or dimensions";
    if (begins("scheduling-policy:"))
        return "is a system file of ASTRA-sim 1 (collective algorithms by dimension) give "
               "the JSON of ASTRA-sim 2 as --system";
    if (has(head, "comm_group_size"))
        return "is AICB's list of calls on real GPUs (of one rank, without who waits for "
               "whom) let AICB write the text workload for SimAI and import that";
    if (has(head, "time_gpu_avg"))
        return "is AICB's list of measured compute times (they go into its workloads) let "
               "AICB write the text workload for SimAI and import that";
    if (has(head, "UCC Collective Pattern"))
        return "is a pattern file of UCC (counts of one all-to-all-v) write the "
               "counts as a table of flows with src, dst and bytes";
    if (has(head, "ring of node")) return "is the output of ASTRA-sim (results, no work to do) import its .et files";
    if (has(head, "connection_matrices/"))
        return "is a list of htsim's validation runs (commands and expected times) import one of its .cm files";
    if (path.filename().string().find("alloc") != std::string::npos)
        return "is an allocation of CODES (which nodes a job has) say it as workload.schedule.first_rank and stride";
    if (has(head, "# collprof"))
        return "is an MPI trace of liballprof (calls and their times) convert it to GOAL with schedgen";
    if (has(head, "out-of-place") || has(head, "busbw") || has(head, "alg_bandwidth") || has(head, "N/A"))
        return "is the output of a collective benchmark (results, no work to do) compare it with orrery collective";
    if (has(head, "slots=") || has(head, "nodelist"))
        return "is a list of hosts (of this machine, not of the simulated one) give it to mpirun or srun";
    if (suffix == ".toml") return "is a configuration of a cluster tool (no work to do) leave it out";
    if (suffix == ".csv")
        return "is a table without columns src and dst (no traffic from rank to rank) give a table of "
               "flows with src, dst and bytes";
    return {};
}

}  // namespace

std::string foreign_kind(std::filesystem::path const& path, std::string_view head) {
    if (head.empty()) return "is empty (there is nothing to import) check how it was written";
    if (head.starts_with("\x1f\x8b") || head.starts_with("PK\x03\x04") ||
        head.substr(0, 512).find("ustar") != head.npos)
        return "is compressed or an archive (its files are what can be imported) unpack it first";
    if (has(head.substr(0, 16), "DUMPI"))
        return "is a binary DUMPI trace (its layout depends on the machine) convert it with dumpi2ascii, or to GOAL";
    if (has(head.substr(0, 16), "OTF2"))
        return "is an anchor file of OTF2 (the events are in other files) convert the trace to GOAL";
    auto const first = head.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (head[first] == '{' || head[first] == '['))
        if (auto kind = kind_of_json(head); !kind.empty()) return kind;
    if (has(head, std::string_view("\0", 1)))
        return "is a binary file (no importer reads one of this kind) give the text or Protobuf file it was made from";
    return kind_of_text(path, head);
}

}  // namespace orrery
