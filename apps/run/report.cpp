// SPDX-License-Identifier: Apache-2.0
#include "apps/run/report.hpp"

#include "apps/run/agree.hpp"
#include "apps/run/efficiency.hpp"
#include "orrery_version.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <unistd.h>

namespace orrery {
namespace {

// Over all processes: the mean bound of the exchanges of one kind, and how much of its sum each bundle binds.
struct Binding {
    Time mean;
    std::map<std::uint32_t, std::int64_t> bound_ps;
};

Binding gather_bounds(World const& world, RunSink::Bounds const& mine) {
    auto const sums = world.sum(std::vector<std::int64_t>{mine.sum_ps, mine.exchanges});
    Binding all{.mean = Time::from_ps(sums[1] > 0 ? sums[0] / sums[1] : 0), .bound_ps = {}};
    std::string text;
    for (auto const& [bundle, ps] : mine.bound_ps) text += fmt::format("{} {}\n", bundle, ps);
    for (auto const& part : world.gather(text)) {
        std::istringstream in(part);
        std::uint32_t bundle = 0;
        std::int64_t ps = 0;
        while (in >> bundle >> ps) all.bound_ps[bundle] += ps;
    }
    return all;
}

constexpr auto shorter = [](auto const& a, auto const& b) { return a.second < b.second; };

void name_binding(Job const& job, Binding const& binding, Summary::Operation& operation) {
    if (binding.bound_ps.empty()) return;
    std::map<std::string, std::int64_t> classes;
    for (auto const& [bundle, ps] : binding.bound_ps)
        classes[bundle == no_bundle_binds
                    ? "sender's loop"
                    : job.fabric().link_classes()[job.fabric().bundles()[bundle].link_class].name] += ps;
    operation.bound_by = std::max_element(classes.begin(), classes.end(), shorter)->first;
    auto const most = std::max_element(binding.bound_ps.begin(), binding.bound_ps.end(), shorter)->first;
    if (most != no_bundle_binds) operation.bound_link = job.fabric().bundle_name(BundleId{most});
}

std::vector<Summary::Operation> operations(World const& world, Job const& job, OperationStatistics const& statistics,
                                           RunSink const& sink) {
    std::vector<Summary::Operation> rows;
    for (int k = 0; k < op_kind_count; ++k) {
        auto const kind = static_cast<OpKind>(k);
        auto const price = job.workload().price(kind);
        bool const communicates = !price;
        auto const binding = communicates ? gather_bounds(world, sink.bounds(kind)) : Binding{};
        if (statistics.count(kind) == 0) continue;
        Summary::Operation operation{.name = name_of(kind),
                                     .count = statistics.count(kind),
                                     .mean_s = statistics.mean(kind).seconds(),
                                     .p50_s = statistics.quantile(kind, 50).seconds(),
                                     .p99_s = statistics.quantile(kind, 99).seconds(),
                                     .max_s = statistics.max(kind).seconds(),
                                     .wait_mean_s = statistics.wait_mean(kind).seconds(),
                                     .exposed_share = communicates ? statistics.exposed_share(kind) : 1,
                                     .bound_s = 0,
                                     .bound_by = {},
                                     .bound_link = {},
                                     .formula = {}};
        if (price) {
            operation.bound_by = price->bound_by;
            operation.bound_s = operation.mean_s;  // the price is the bound itself
            operation.formula = price->formula;
        } else {
            operation.bound_s = binding.mean.seconds();
            name_binding(job, binding, operation);
            operation.formula = job.workload().formula(kind);
        }
        rows.push_back(std::move(operation));
    }
    return rows;
}

std::vector<Summary::Link> hottest(Job const& job, std::vector<std::int64_t> const& bytes, Time span,
                                   std::optional<PacketTotals> const& packets) {
    std::vector<Summary::Link> links;
    if (span == Time{}) return links;
    auto const bundles = job.fabric().bundles();
    auto const utilisation = [&](std::size_t b) {
        return static_cast<double>(bytes[b]) / (bundles[b].capacity.bytes_per_s() * span.seconds());
    };
    std::vector<std::size_t> used;
    for (std::size_t b = 0; b < bytes.size(); ++b)
        if (bytes[b] > 0) used.push_back(b);
    auto const shown = std::min<std::size_t>(used.size(), 10);
    std::partial_sort(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(shown), used.end(),
                      [&](std::size_t a, std::size_t b) {
                          auto const ua = utilisation(a), ub = utilisation(b);
                          return ua != ub ? ua > ub : a < b;
                      });
    for (std::size_t i = 0; i < shown; ++i) {
        auto const b = used[i];
        Summary::Link link{.name = job.fabric().bundle_name(BundleId{static_cast<std::uint32_t>(b)}),
                           .bytes = bytes[b],
                           .utilisation = utilisation(b)};
        if (packets) {
            auto const& tables = packets->tables;
            link.max_queue_bytes = tables.max_queue_bytes[b];
            link.busy_s = Time::from_ps(tables.busy_ps[b]).seconds();
            link.paused_s = Time::from_ps(tables.paused_ps[b]).seconds();
            link.marks = tables.marks[b];
            link.drops = tables.drops[b];
        }
        links.push_back(std::move(link));
    }
    return links;
}

std::vector<std::string> ignored(Job const& job, std::vector<std::int64_t> const& bytes) {
    auto list = job.loaded().ignored;
    std::set<std::string> carrying;
    auto const classes = job.fabric().link_classes();
    for (std::size_t b = 0; b < bytes.size(); ++b)
        if (bytes[b] > 0) carrying.insert(classes[job.fabric().bundles()[b].link_class].plane);
    for (auto const plane : {"rdma", "vpc", "cpu"})
        if (!carrying.contains(plane))
            for (auto const& path : plane_fields_set(job.loaded(), plane))
                list.push_back(fmt::format("{} has no effect (the {} plane carried no traffic)", path, plane));
    auto const user_set = [&](char const* path) { return job.loaded().origin.contains(path); };
    for (auto& text : job.workload().ignored()) list.push_back(std::move(text));
    if (user_set("fabric.cloudmatrix384.striping") && job.degradations().empty())
        list.emplace_back(
            "fabric.cloudmatrix384.striping has no effect (all sub-planes are equal: nothing is degraded)");
    for (auto const& effect : job.degradations()) {
        if (effect.changes_nothing) {
            list.push_back(fmt::format("{} = {} has no effect (rate_factor 1, no extra latency, not down)",
                                       effect.where, effect.pattern));
            continue;
        }
        bool const touched =
            std::any_of(effect.bundles.begin(), effect.bundles.end(), [&](BundleId b) { return bytes[b.index()] > 0; });
        if (!touched)
            list.push_back(fmt::format("{} = {} has no effect (its {} links carried no traffic)", effect.where,
                                       effect.pattern, effect.links));
    }
    return list;
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace

FabricTables fabric_tables(Job const& job) {
    FabricTables tables;
    auto const& fabric = job.fabric();
    for (auto const& link_class : fabric.link_classes()) tables.class_names.push_back(link_class.name);
    for (std::uint32_t d = 0; d < fabric.domain_count(); ++d)
        tables.domain_names.push_back(fabric.domain_name(DomainId{d}));
    auto& table = tables.bundles;
    for (auto const& bundle : fabric.bundles()) {
        table.link_class.push_back(bundle.link_class);
        table.domain.push_back(bundle.domain.value());
        table.capacity.push_back(bundle.capacity);
        table.latency.push_back(bundle.latency);
        table.members.push_back(bundle.member_count);
    }
    tables.bundle_name = [&fabric](std::uint32_t b) { return fabric.bundle_name(BundleId{b}); };
    tables.link_name = [&fabric](std::uint32_t l) { return fabric.link_name(LinkId{l}); };
    return tables;
}

Manifest make_manifest(Job const& job, std::string const& command) {
    Manifest manifest;
    manifest.manifest = {{"scenario", resolved_text(job.loaded())},
                         {"canonical", canonical_text(job.scenario())},
                         {"orrery_version", std::string{version_text}},
                         {"commit", std::string{commit_text}},
                         {"build", std::string{build_text}},
                         {"seed", static_cast<std::int64_t>(job.scenario().seed())},
                         {"flow_sharing", job.sharing_text()},
                         {"flow_solvers", job.solvers_text()},
                         {"link_bin_ps", job.scenario().output().link_bin()}};
    for (auto& entry : job.workload().manifest()) manifest.manifest.push_back(std::move(entry));
    manifest.run = {{"command", command}, {"host", host_name()}};
    return manifest;
}

Report make_report(World const& world, Job const& job, Partition const& partition, Simulation& simulation,
                   RunOutcome const& outcome, RunFacts const& facts) {
    Simulation::Share share;
    all_or_none(world, [&] { share = simulation.share(); });
    if (share.packets) share.packets->reduce(world);
    auto const words = world.sum(std::vector<std::uint64_t>{share.digest.low, share.digest.high});
    Digest const digest{words[0], words[1]};
    auto const sums = world.sum(std::vector<std::int64_t>{
        share.transfers.flows, share.transfers.injected_bytes, share.transfers.delivered_bytes, share.unfinished_ranks,
        share.imbalance.ranks_ppm, share.imbalance.experts_ppm, share.imbalance.samples, peak_memory_bytes(),
        static_cast<std::int64_t>(cpu_seconds() * 1e6)});
    auto const bytes = world.sum(share.bundle_bytes);
    auto const payload = world.sum(share.bundle_payload);
    auto const finish = Time::from_ps(world.max(share.last_finish.ps()));

    auto statistics = simulation.sink().statistics();
    auto const added = world.sum(std::vector<std::int64_t>(statistics.words().begin(), statistics.words().end()));
    auto const largest =
        world.max(std::vector<std::int64_t>(statistics.max_words().begin(), statistics.max_words().end()));
    std::copy(added.begin(), added.end(), statistics.words().begin());
    std::copy(largest.begin(), largest.end(), statistics.max_words().begin());

    Report report;
    auto& summary = report.summary;
    summary.digest = digest.hex();
    summary.complete = sums[3] == 0;
    summary.processes = world.count();
    summary.ranks = job.ranks();
    summary.simulated_time_s = outcome.last.seconds();
    summary.step_time_s = finish.seconds();
    summary.wall_s = facts.earlier_wall_s + facts.wall_s;
    summary.cpu_s = facts.earlier_cpu_s + static_cast<double>(sums[8]) * 1e-6;
    summary.peak_rss_bytes = sums[7];
    summary.events = outcome.events;
    summary.flows = sums[0];
    summary.packet_hops = share.packets ? share.packets->counters.hops : 0;
    if (share.packets) summary.packets = packet_summary(job, *share.packets);
    summary.windows = outcome.windows;
    summary.network_model = job.network_text();
    summary.fabric = fmt::format("{}, {} of {} ranks", job.fabric().kind(), job.ranks(), job.fabric().rank_count());
    summary.model = job.workload().title();
    summary.conservation = {sums[1], sums[2], 0, sums[1] - sums[2]};
    ORRERY_ENSURE(!summary.complete || sums[1] == sums[2], "bytes are not conserved: {} injected, {} delivered",
                  sums[1], sums[2]);
    summary.operations = operations(world, job, statistics, simulation.sink());
    summary.links = hottest(job, bytes, outcome.last, share.packets);
    if (sums[6] > 0)
        summary.imbalance = {static_cast<double>(sums[4]) / static_cast<double>(sums[6]) * 1e-6,
                             static_cast<double>(sums[5]) / static_cast<double>(sums[6]) * 1e-6};
    auto const processes = ProcessStatus::from_words(world.gather(simulation.status().words()));
    if (world.root()) summary.parallel = efficiency(job, partition, outcome, processes);
    summary.ignored = ignored(job, bytes);
    summary.warnings = job.warnings();
    report.tables = fabric_tables(job);
    report.tables.bundles.wire_bytes = bytes;
    report.tables.bundles.payload_bytes = payload;
    report.tables.span = outcome.last;
    if (share.packets) report.tables.packets = share.packets->take_tables(job.fabric(), job.packet_settings());
    report.manifest = make_manifest(job, facts.command);
    report.manifest.manifest.push_back({"digest", summary.digest});
    add_to_manifest(report.manifest, summary);
    return report;
}

}  // namespace orrery
