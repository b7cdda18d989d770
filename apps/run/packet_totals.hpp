// SPDX-License-Identifier: Apache-2.0
// What the packet model counted over a run: of one process, then of all; for the summary and the timeline.
#pragma once

#include "io/summary/summary.hpp"
#include "io/timeline/manifest.hpp"
#include "netmodels/packet/packet_engine.hpp"
#include "partitions/world.hpp"

#include <vector>

namespace orrery {

class Job;

// Integers only, each of one link or one flow, so the sums are the same however domains were dealt to processes.
struct PacketTotals {
    PacketCounters counters;
    PacketTables tables;                 // by BundleId; without the rows of `queues`
    std::vector<QueueHistogram> queues;  // by link class
    FlowTimes flows;
    std::int64_t pause_threshold = PacketSettings::unbounded;  // bytes from one input link

    // For a fabric without traffic.
    explicit PacketTotals(Fabric const& fabric);
    void add(PacketEngine const& engine);
    // Collective: those of all processes, on each; the trace on process 0.
    void reduce(World const& world);

    // `fabric` as in the constructor. Process 0 has all.
    PacketTables take_tables(Fabric const& fabric, PacketSettings const& settings);
};

Summary::Packets packet_summary(Job const& job, PacketTotals const& totals);

}  // namespace orrery
