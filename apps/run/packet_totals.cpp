// SPDX-License-Identifier: Apache-2.0
#include "apps/run/packet_totals.hpp"

#include "apps/run/job.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace orrery {
namespace {

using Words = std::array<std::int64_t, sizeof(PacketCounters) / sizeof(std::int64_t)>;

std::vector<std::int64_t> words_of(PacketCounters const& counters) {
    auto const words = std::bit_cast<Words>(counters);
    return {words.begin(), words.end()};
}

void sum(World const& world, PacketCounters& counters) {
    auto const all = world.sum(words_of(counters));
    Words words;
    std::copy(all.begin(), all.end(), words.begin());
    counters = std::bit_cast<PacketCounters>(words);
}

void sum(World const& world, LogHistogram& histogram) {
    LogHistogram all;
    all.merge(world.sum(histogram.sums()), world.max(histogram.extremes()));
    histogram = std::move(all);
}

void gather(World const& world, std::vector<PacketTraceRow>& rows) {
    auto const texts =
        world.gather(std::string{reinterpret_cast<char const*>(rows.data()), rows.size() * sizeof rows[0]});
    rows.clear();
    for (auto const& text : texts) {
        auto const first = rows.size();
        rows.resize(first + text.size() / sizeof rows[0]);
        std::memcpy(rows.data() + first, text.data(), text.size());
    }
}

Summary::Packets::Quantiles quantiles(LogHistogram const& histogram, double unit) {
    auto const value = [unit](std::int64_t v) { return static_cast<double>(v) * unit; };
    return {.mean = value(histogram.mean()),
            .p50 = value(histogram.quantile(50)),
            .p95 = value(histogram.quantile(95)),
            .p99 = value(histogram.quantile(99)),
            .max = value(histogram.max())};
}

// Why a counter is zero although it might have been another: what did not come near what.
std::vector<std::string> notes(PacketSettings const& settings, PacketTotals const& totals, std::int64_t longest) {
    auto const& c = totals.counters;
    std::vector<std::string> lines;
    auto const zero = [&](char const* what, std::string const& bar) {
        lines.push_back(fmt::format("no {}: maximum queue {}, {}", what, bytes_text(longest), bar));
    };
    if (settings.lossless == Lossless::pfc && c.pauses == 0)
        zero("pauses", settings.pfc_alpha > 0
                           ? fmt::format("threshold {} of the free part of {}", settings.pfc_alpha,
                                         bytes_text(settings.shared_buffer))
                           : fmt::format("threshold {} from one input link", bytes_text(totals.pause_threshold)));
    if (settings.lossless == Lossless::credit && c.stalls == 0)
        zero("credit stalls", fmt::format("credit {} per input link", bytes_text(settings.port_buffer)));
    if (settings.ecn_kmin != PacketSettings::unbounded && c.marks == 0)
        zero("marks", fmt::format("marking begins at {}", bytes_text(settings.ecn_kmin)));
    if (settings.lossless == Lossless::off && settings.port_buffer != PacketSettings::unbounded && c.dropped == 0)
        zero("drops", fmt::format("buffer {} per port", bytes_text(settings.port_buffer)));
    return lines;
}

std::vector<PacketTables::FlowRow> histogram_rows(LogHistogram const& histogram, std::int64_t from_bytes) {
    std::vector<PacketTables::FlowRow> rows;
    auto const& bins = histogram.bins();
    for (std::size_t bin = 0; bin < bins.size(); ++bin)
        if (bins[bin] > 0)
            rows.push_back({from_bytes, std::clamp(LogBins::middle(bin), histogram.min(), histogram.max()), bins[bin]});
    return rows;
}

}  // namespace

PacketTotals::PacketTotals(Fabric const& fabric) : queues(fabric.link_classes().size()) {
    for (auto* column : {&tables.sent_bytes, &tables.busy_ps, &tables.paused_ps, &tables.marks, &tables.drops,
                         &tables.max_queue_bytes})
        column->resize(fabric.bundles().size());
}

void PacketTotals::add(PacketEngine const& engine) {
    auto const& network = engine.network();
    auto const& fabric = engine.compiled();
    counters.add(network.counters());
    for (std::uint32_t p = 0; p < fabric.port_count(); ++p) {
        auto const bundle = fabric.fabric().links()[fabric.link(p).index()].bundle.index();
        auto const figures = network.figures(p);
        tables.sent_bytes[bundle] += figures.bytes;
        tables.busy_ps[bundle] += figures.busy_ps;
        tables.paused_ps[bundle] += figures.paused_ps;
        tables.marks[bundle] += figures.marks;
        tables.drops[bundle] += figures.drops;
        tables.max_queue_bytes[bundle] = std::max(tables.max_queue_bytes[bundle], figures.max_queue);
    }
    for (std::uint32_t c = 0; c < queues.size(); ++c) {
        auto const found = network.queues(c);
        for (std::size_t b = 0; b < found.size(); ++b) queues[c][b] += found[b];
    }
    if (auto const bytes = network.pause_threshold(); bytes > 0) pause_threshold = std::min(pause_threshold, bytes);
    flows.merge(engine.flow_times());
    auto const rows = network.trace();
    tables.trace.insert(tables.trace.end(), rows.begin(), rows.end());
}

void PacketTotals::reduce(World const& world) {
    if (world.count() == 1) return;
    sum(world, counters);
    for (auto* column : {&tables.sent_bytes, &tables.busy_ps, &tables.paused_ps, &tables.marks, &tables.drops})
        *column = world.sum(*column);
    tables.max_queue_bytes = world.max(tables.max_queue_bytes);
    std::vector<std::int64_t> flat;
    for (auto const& histogram : queues) flat.insert(flat.end(), histogram.begin(), histogram.end());
    flat = world.sum(flat);
    for (std::size_t c = 0; c < queues.size(); ++c)
        std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(c * queue_buckets), queue_buckets, queues[c].begin());
    pause_threshold = world.min(pause_threshold);
    sum(world, flows.ps);
    sum(world, flows.slowdown_ppm);
    gather(world, tables.trace);
    std::vector<std::int64_t> counts;
    for (auto const& histogram : flows.slowdown_by_size) counts.push_back(histogram.count());
    counts = world.sum(counts);
    for (std::size_t k = 0; k < counts.size(); ++k)
        if (counts[k] > 0) sum(world, flows.slowdown_by_size[k]);
}

PacketTables PacketTotals::take_tables(Fabric const& fabric, PacketSettings const& settings) {
    for (std::size_t c = 0; c < queues.size(); ++c)
        for (std::size_t b = 0; b < queue_buckets; ++b)
            if (queues[c][b] > 0)
                tables.queues.push_back(
                    {static_cast<std::uint16_t>(c), queue_bucket_begin(b, settings.mtu), queues[c][b]});
    std::sort(tables.trace.begin(), tables.trace.end(), earlier);
    if (tables.trace.size() > settings.trace.limit) tables.trace.resize(settings.trace.limit);
    tables.packet_kinds = {"data", "ack", "nack", "cnp", "credit"};
    for (auto const& link : fabric.links()) tables.bundle_of_link.push_back(link.bundle.value());
    tables.flow_times = histogram_rows(flows.ps, 0);
    for (std::size_t k = 0; k < flows.slowdown_by_size.size(); ++k)
        for (auto const& row : histogram_rows(flows.slowdown_by_size[k], FlowTimes::smallest(k)))
            tables.flow_slowdowns.push_back(row);
    return std::move(tables);
}

Summary::Packets packet_summary(Job const& job, PacketTotals const& totals) {
    auto const& c = totals.counters;
    auto const& queue = totals.tables.max_queue_bytes;
    auto const longest = std::max_element(queue.begin(), queue.end()) - queue.begin();
    auto const bytes = queue[static_cast<std::size_t>(longest)];
    Summary::Packets packets{.injected = c.injected,
                             .delivered = c.delivered,
                             .dropped = c.dropped,
                             .lost = c.lost,
                             .blocked = c.blocked,
                             .sent_again = c.retransmitted,
                             .control = c.control,
                             .marks = c.marks,
                             .pauses = c.pauses,
                             .credit_stalls = c.stalls,
                             .max_queue_bytes = bytes,
                             .max_queue_link = {},
                             .flows = totals.flows.ps.count(),
                             .flow_time_s = quantiles(totals.flows.ps, 1e-12),
                             .slowdown = quantiles(totals.flows.slowdown_ppm, 1e-6),
                             .queues = {},
                             .notes = notes(job.packet_settings(), totals, bytes)};
    if (bytes > 0) packets.max_queue_link = job.fabric().bundle_name(BundleId{static_cast<std::uint32_t>(longest)});
    auto const classes = job.fabric().link_classes();
    for (std::size_t k = 0; k < totals.queues.size(); ++k) {
        auto const& histogram = totals.queues[k];
        if (std::any_of(histogram.begin(), histogram.end(), [](auto n) { return n > 0; }))
            packets.queues.push_back({classes[k].name, {histogram.begin(), histogram.end()}});
    }
    return packets;
}

}  // namespace orrery
