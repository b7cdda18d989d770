// SPDX-License-Identifier: Apache-2.0
#include "io/summary/summary.hpp"

#include "io/timeline/atomic_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <span>

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(Summary::Operation const& o) {
    return {{"name", o.name},
            {"count", o.count},
            {"mean_s", o.mean_s},
            {"p50_s", o.p50_s},
            {"p99_s", o.p99_s},
            {"max_s", o.max_s},
            {"wait_mean_s", o.wait_mean_s},
            {"exposed_share", o.exposed_share},
            {"bound_s", o.bound_s},
            {"bound_by", o.bound_by},
            {"bound_link", o.bound_link},
            {"formula", o.formula}};
}

Json to_json(Summary::Link const& link) {
    return {{"name", link.name},
            {"bytes", link.bytes},
            {"utilisation", link.utilisation},
            {"max_queue_bytes", link.max_queue_bytes},
            {"busy_s", link.busy_s},
            {"paused_s", link.paused_s},
            {"marks", link.marks},
            {"drops", link.drops}};
}

Json to_json(Summary::Packets::Quantiles const& q) {
    return {{"mean", q.mean}, {"p50", q.p50}, {"p95", q.p95}, {"p99", q.p99}, {"max", q.max}};
}

Json to_json(Summary::Packets const& p) {
    auto queues = Json::array();
    for (auto const& [link_class, packets] : p.queues) queues.push_back({{"class", link_class}, {"packets", packets}});
    return {{"injected", p.injected},
            {"delivered", p.delivered},
            {"dropped", p.dropped},
            {"lost", p.lost},
            {"blocked", p.blocked},
            {"sent_again", p.sent_again},
            {"control", p.control},
            {"marks", p.marks},
            {"pauses", p.pauses},
            {"credit_stalls", p.credit_stalls},
            {"max_queue_bytes", p.max_queue_bytes},
            {"max_queue_link", p.max_queue_link},
            {"flows", p.flows},
            {"flow_time_s", to_json(p.flow_time_s)},
            {"slowdown", to_json(p.slowdown)},
            {"queues", queues},
            {"notes", p.notes}};
}

Json to_json(Summary::Parallel const& p) {
    auto processes = Json::array();
    for (auto const& process : p.processes)
        processes.push_back({{"events", process.events},
                             {"busy_s", process.busy_s},
                             {"waiting_s", process.waiting_s},
                             {"writing_s", process.writing_s},
                             {"memory_bytes", process.memory_bytes}});
    return {{"processes", processes},
            {"lookahead_s", p.lookahead_s},
            {"lookahead_reason", p.lookahead_reason},
            {"limiting", p.limiting},
            {"events_per_window", p.events_per_window},
            {"busy_imbalance", p.busy_imbalance},
            {"sync_share", p.sync_share},
            {"advice", p.advice}};
}

// "1.25 0.75": one number per process.
std::string per_process(Summary::Parallel const& p, double Summary::Process::* seconds) {
    std::string text;
    for (auto const& process : p.processes) text += fmt::format("{}{:.6g}", text.empty() ? "" : " ", process.*seconds);
    return text;
}

Json to_json(Summary const& s) {
    auto operations = Json::array(), links = Json::array();
    for (auto const& operation : s.operations) operations.push_back(to_json(operation));
    for (auto const& link : s.links) links.push_back(to_json(link));
    return {{"digest", s.digest},
            {"complete", s.complete},
            {"processes", s.processes},
            {"ranks", s.ranks},
            {"simulated_time_s", s.simulated_time_s},
            {"step_time_s", s.step_time_s},
            {"wall_s", s.wall_s},
            {"cpu_s", s.cpu_s},
            {"peak_rss_bytes", s.peak_rss_bytes},
            {"events", s.events},
            {"flows", s.flows},
            {"packet_hops", s.packet_hops},
            {"windows", s.windows},
            {"network_model", s.network_model},
            {"fabric", s.fabric},
            {"model", s.model},
            {"conservation",
             {{"injected_bytes", s.conservation.injected_bytes},
              {"delivered_bytes", s.conservation.delivered_bytes},
              {"dropped_bytes", s.conservation.dropped_bytes},
              {"in_flight_bytes", s.conservation.in_flight_bytes}}},
            {"operations", operations},
            {"links", links},
            {"packets", to_json(s.packets)},
            {"imbalance", {{"ranks", s.imbalance.ranks}, {"experts", s.imbalance.experts}}},
            {"parallel", to_json(s.parallel)},
            {"ignored", s.ignored},
            {"warnings", s.warnings}};
}

// What a page says about the run beyond its rows and scalars; nothing that depends on the execution.
Json details(Summary const& s) {
    auto operations = Json::array(), links = Json::array();
    for (auto const& operation : s.operations) operations.push_back(to_json(operation));
    for (auto const& link : s.links) links.push_back(to_json(link));
    return {{"ranks", s.ranks},
            {"network_model", s.network_model},
            {"fabric", s.fabric},
            {"model", s.model},
            {"operations", operations},
            {"links", links},
            {"packets", to_json(s.packets)},
            {"ignored", s.ignored},
            {"warnings", s.warnings}};
}

// Names may come from files of any encoding: what is not UTF-8 is replaced, never a reason to lose the result.
std::string text_of(Json const& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void write_summary_json(std::filesystem::path const& path, Summary const& summary) {
    auto const text = text_of(to_json(summary), 2) + "\n";
    replace_file(path, std::as_bytes(std::span(text)));
}

void add_to_manifest(Manifest& manifest, Summary const& s) {
    auto& summary = manifest.summary;
    summary.push_back({"complete", std::int64_t{s.complete}});
    summary.push_back({"simulated_time_s", s.simulated_time_s});
    summary.push_back({"step_time_s", s.step_time_s});
    summary.push_back({"events", s.events});
    summary.push_back({"flows", s.flows});
    summary.push_back({"packet_hops", s.packet_hops});
    summary.push_back({"injected_bytes", s.conservation.injected_bytes});
    summary.push_back({"delivered_bytes", s.conservation.delivered_bytes});
    summary.push_back({"dropped_bytes", s.conservation.dropped_bytes});
    summary.push_back({"in_flight_bytes", s.conservation.in_flight_bytes});
    summary.push_back({"imbalance_ranks", s.imbalance.ranks});
    summary.push_back({"imbalance_experts", s.imbalance.experts});
    summary.push_back({"details", text_of(details(s), -1)});
    if (auto const& p = s.packets; p.injected > 0) {
        summary.push_back({"packets_injected", p.injected});
        summary.push_back({"packets_dropped", p.dropped});
        summary.push_back({"packets_sent_again", p.sent_again});
        summary.push_back({"packets_marks", p.marks});
        summary.push_back({"packets_pauses", p.pauses});
        summary.push_back({"packets_credit_stalls", p.credit_stalls});
        for (auto const& [name, q] : {std::pair{"flow_time_s", &p.flow_time_s}, std::pair{"slowdown", &p.slowdown}})
            for (auto const& [which, value] : {std::pair{"mean", q->mean}, std::pair{"p50", q->p50},
                                               std::pair{"p95", q->p95}, std::pair{"p99", q->p99}})
                summary.push_back({fmt::format("{}_{}", name, which), value});
    }
    auto& run = manifest.run;
    run.push_back({"processes", s.processes});
    run.push_back({"windows", s.windows});
    run.push_back({"wall_s", s.wall_s});
    run.push_back({"cpu_s", s.cpu_s});
    run.push_back({"peak_rss_bytes", s.peak_rss_bytes});
    auto const& parallel = s.parallel;
    run.push_back({"busy_s", per_process(parallel, &Summary::Process::busy_s)});
    run.push_back({"waiting_s", per_process(parallel, &Summary::Process::waiting_s)});
    run.push_back({"writing_s", per_process(parallel, &Summary::Process::writing_s)});
    run.push_back({"lookahead_s", parallel.lookahead_s});
    run.push_back({"lookahead_reason", parallel.lookahead_reason});
    run.push_back({"lookahead_links", fmt::format("{}", fmt::join(parallel.limiting, ", "))});
    run.push_back({"events_per_window", parallel.events_per_window});
    run.push_back({"advice", parallel.advice});
}

}  // namespace orrery
