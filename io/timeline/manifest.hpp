// SPDX-License-Identifier: Apache-2.0
// What a finished timeline says beside its rows: where the result comes from, its fabric and its totals.
#pragma once

#include "core/records.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace orrery {

struct ManifestEntry {
    std::string key;
    std::variant<std::int64_t, double, std::string> value;
};

struct Manifest {
    // Equal for every process count: resolved scenario, canonical text, version, build, seed, digest, ...
    std::vector<ManifestEntry> manifest;
    // What may differ between two runs of one scenario: processes, wall and CPU time, memory, host, command, date.
    std::vector<ManifestEntry> run;
    // Totals of the result, equal for every process count.
    std::vector<ManifestEntry> summary;
};

// One entry per bundle of the fabric in each column, indexed by BundleId.
struct BundleTable {
    std::vector<std::uint16_t> link_class;  // into class_names
    std::vector<std::uint32_t> domain;      // into domain_names
    std::vector<Rate> capacity;
    std::vector<Time> latency;
    std::vector<std::uint32_t> members;
    std::vector<std::int64_t> wire_bytes;  // over the whole run
    std::vector<std::int64_t> payload_bytes;
    std::size_t size() const { return capacity.size(); }
};

// What the packet model counted at the links. Empty: another model ran.
struct PacketTables {
    // By BundleId, over the links of a bundle: sums, and the largest of the queues.
    std::vector<std::int64_t> sent_bytes, busy_ps, paused_ps, marks, drops, max_queue_bytes;
    // Packets by the queue that they found: those that begin with `from_bytes` and end with the next row of the class.
    struct QueueRow {
        std::uint16_t link_class = 0;
        std::int64_t from_bytes = 0, packets = 0;
    };
    std::vector<QueueRow> queues;
    std::vector<PacketTraceRow> trace;          // in order
    std::vector<std::string> packet_kinds;      // meaning of its `kind`
    std::vector<std::uint32_t> bundle_of_link;  // by LinkId
    // Flows by what they took, within 0.8 %: the time in ps, and per class of sizes the slowdown in millionths.
    struct FlowRow {
        std::int64_t from_bytes = 0, value = 0, flows = 0;
    };
    std::vector<FlowRow> flow_times, flow_slowdowns;
};

struct FabricTables {
    BundleTable bundles;
    PacketTables packets;
    std::vector<std::string> class_names, domain_names;
    std::function<std::string(std::uint32_t bundle)> bundle_name;  // computed, asked only for bundles that are written
    std::function<std::string(std::uint32_t link)> link_name;      // the same, for the packet model
    Time span;  // what utilisation refers to: the simulated time of the run
};

}  // namespace orrery
