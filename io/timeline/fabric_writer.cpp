// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/fabric_writer.hpp"

#include "core/check.hpp"
#include "io/timeline/columns.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace orrery {
namespace {

// One division of exactly computed integers: the same bits everywhere.
double utilisation(std::int64_t bytes, Rate capacity, Time span) {
    if (capacity == Rate{} || span == Time{}) return 0;
    auto const bit_ps = static_cast<Int128>(bytes) * 8'000'000'000'000;
    auto const possible = static_cast<Int128>(capacity.bits_per_s()) * span.ps();
    return static_cast<double>(bit_ps) / static_cast<double>(possible);
}

}  // namespace

std::vector<std::uint32_t> listed_bundles(BundleTable const& table, std::size_t all_bundles) {
    std::vector<std::uint32_t> listed;
    for (std::uint32_t bundle = 0; bundle < table.size(); ++bundle)
        if (table.size() <= all_bundles || table.wire_bytes[bundle] > 0) listed.push_back(bundle);
    return listed;
}

void write_bundles(hdf5::Group& file, FabricTables const& fabric, std::vector<std::uint32_t> const& listed) {
    auto const& t = fabric.bundles;
    for (auto const size : {t.link_class.size(), t.domain.size(), t.latency.size(), t.members.size()})
        ORRERY_ENSURE(size == t.size(), "columns of {} and {} bundles", size, t.size());
    auto parent = file.create_group("fabric");
    parent.set_attribute("long_name", "the links of the fabric");
    parent.set_attribute("bundle_count", static_cast<std::int64_t>(t.size()));
    Columns bundles(parent.create_group("bundles"), listed);
    bundles.group().set_attribute("long_name", "parallel links that a striped transfer uses together");
    bundles.group().set_attribute("listed", listed.size() == t.size() ? "all" : "those that carried traffic");
    bundles.write("id", "1", "number of the bundle", [](std::uint32_t b) { return b; });
    bundles.write_text("name", "name of the bundle", fabric.bundle_name);
    bundles.write_text("class", "class of its links", [&](auto b) { return fabric.class_names.at(t.link_class[b]); });
    bundles.write_text("domain", "domain of links that it belongs to",
                       [&](auto b) { return fabric.domain_names.at(t.domain[b]); });
    bundles.write("capacity", "bit/s", "what a striped transfer can use of it",
                  [&](auto b) { return t.capacity[b].bits_per_s(); });
    bundles.write("latency", "ps", "one-way latency of the slowest member in use",
                  [&](auto b) { return t.latency[b].ps(); });
    bundles.write("members", "1", "number of physical links", [&](auto b) { return t.members[b]; });
}

void write_links(hdf5::Group& file, FabricTables const& fabric, std::vector<std::uint32_t> const& listed) {
    auto const& t = fabric.bundles;
    for (auto const size : {t.wire_bytes.size(), t.payload_bytes.size()})
        ORRERY_ENSURE(size == t.size(), "columns of {} and {} bundles", size, t.size());
    Columns links(file.create_group("links"), listed);
    links.group().set_attribute("long_name", "what each bundle carried over the whole run");
    links.group().set_attribute("span_ps", fabric.span.ps());
    links.write("bundle", "1", "bundle, the rows are those of /fabric/bundles", [](std::uint32_t b) { return b; });
    links.write("wire_bytes", "B", "bytes on the wire, protocol overhead included",
                [&](auto b) { return t.wire_bytes[b]; });
    links.write("payload_bytes", "B", "payload bytes", [&](auto b) { return t.payload_bytes[b]; });
    links.write("utilisation", "1", "wire bytes over what the capacity could carry in the whole run",
                [&](auto b) { return utilisation(t.wire_bytes[b], t.capacity[b], fabric.span); });
    auto const& p = fabric.packets;
    if (p.sent_bytes.empty()) return;
    for (auto const* column : {&p.sent_bytes, &p.busy_ps, &p.paused_ps, &p.marks, &p.drops, &p.max_queue_bytes})
        ORRERY_ENSURE(column->size() == t.size(), "a column of {} and {} bundles", column->size(), t.size());
    auto const write = [&](char const* name, char const* unit, char const* long_name, auto const& column) {
        links.write(name, unit, long_name, [&](auto b) { return column[b]; });
    };
    write("sent_bytes", "B", "bytes of all packets sent, repeated ones and acknowledgements included", p.sent_bytes);
    write("busy", "ps", "time in which its links sent, summed over them", p.busy_ps);
    write("paused", "ps", "time in which its links were paused or out of credit with packets waiting", p.paused_ps);
    write("max_queue", "B", "longest queue at one of its links", p.max_queue_bytes);
    write("marks", "1", "packets marked", p.marks);
    write("drops", "1", "packets dropped or lost", p.drops);
}

void write_queues(hdf5::Group& file, FabricTables const& fabric) {
    auto const& rows = fabric.packets.queues;
    if (fabric.packets.sent_bytes.empty()) return;
    std::vector<std::uint32_t> numbers(rows.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    Columns queues(file.create_group("queues"), numbers);
    queues.group().set_attribute("long_name", "how long queues were when packets came, per class of links");
    queues.write_text("class", "class of the links", [&](auto r) { return fabric.class_names.at(rows[r].link_class); });
    queues.write("from", "B", "fewest bytes of such a queue; the row ends where the next of its class may begin",
                 [&](auto r) { return rows[r].from_bytes; });
    queues.write("packets", "1", "packets of data that found such a queue", [&](auto r) { return rows[r].packets; });
}

void write_packet_links(hdf5::Group& file, FabricTables const& fabric) {
    auto const& bundles = fabric.packets.bundle_of_link;
    if (bundles.empty()) return;
    std::vector<std::uint32_t> numbers(bundles.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    Columns links(file.create_group("packet_links"), numbers);
    links.group().set_attribute("long_name", "physical links, in the order of their numbers");
    links.write_text("name", "name of the link", fabric.link_name);
    links.write("bundle", "1", "bundle that it belongs to", [&](auto l) { return bundles[l]; });
}

void write_packet_trace(hdf5::Group& file, FabricTables const& fabric) {
    auto const& rows = fabric.packets.trace;
    if (rows.empty()) return;
    std::vector<std::uint32_t> numbers(rows.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    Columns trace(file.create_group("packet_trace"), numbers);
    trace.group().set_attribute("long_name",
                                "the first packets at the links or of the flow that network.packet.trace names");
    trace.group().set_attribute("kinds", fabric.packets.packet_kinds);
    trace.write("time", "ps", "its first bit leaves, or it is dropped", [&](auto r) { return rows[r].time.ps(); });
    trace.write("link", "1", "physical link, a row of /packet_links", [&](auto r) { return rows[r].link; });
    trace.write("source", "1", "rank that the packet is from", [&](auto r) { return rows[r].source; });
    trace.write("target", "1", "rank that it is for", [&](auto r) { return rows[r].target; });
    trace.write("number", "1", "of the packet in its message", [&](auto r) { return rows[r].number; });
    trace.write("bytes", "B", "of the packet", [&](auto r) { return rows[r].bytes; });
    trace.write("queue", "B", "bytes that wait behind it", [&](auto r) { return rows[r].queue_bytes; });
    auto const small = [&](char const* name, char const* long_name, std::uint8_t PacketTraceRow::* field) {
        trace.write(name, "1", long_name, [&](auto r) { return std::uint32_t{rows[r].*field}; });
    };
    small("kind", "what the packet is; the attribute kinds of the group lists the meaning", &PacketTraceRow::kind);
    small("marked", "1: congestion experienced", &PacketTraceRow::marked);
    small("dropped", "1: it goes no further", &PacketTraceRow::dropped);
}

void write_flow_times(hdf5::Group& file, FabricTables const& fabric) {
    if (fabric.packets.sent_bytes.empty()) return;
    auto const numbers = [](std::size_t rows) {
        std::vector<std::uint32_t> all(rows);
        std::iota(all.begin(), all.end(), 0U);
        return all;
    };
    auto const& t = fabric.packets.flow_times;
    auto const& s = fabric.packets.flow_slowdowns;
    auto const all_t = numbers(t.size()), all_s = numbers(s.size());
    Columns times(file.create_group("flow_times"), all_t);
    times.group().set_attribute("long_name", "completion times of flows, a histogram");
    times.write("time", "ps", "from the offer of a flow to the arrival of its last byte, within 0.8 %",
                [&](auto r) { return t[r].value; });
    times.write("flows", "1", "flows that took so long", [&](auto r) { return t[r].flows; });
    Columns slowdowns(file.create_group("flow_slowdowns"), all_s);
    slowdowns.group().set_attribute("long_name", "flow time over the ideal by size of flow, a histogram");
    slowdowns.write("from", "B", "fewest bytes of a flow of this class; it ends where the next power of two begins",
                    [&](auto r) { return s[r].from_bytes; });
    slowdowns.write("slowdown", "1e-6", "flow time over the ideal, within 0.8 %", [&](auto r) { return s[r].value; });
    slowdowns.write("flows", "1", "flows with this slowdown", [&](auto r) { return s[r].flows; });
}

}  // namespace orrery
