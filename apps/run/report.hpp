// SPDX-License-Identifier: Apache-2.0
// From the shares of all processes to the summary, the manifest and the tables of the timeline.
#pragma once

#include "apps/run/job.hpp"
#include "apps/run/simulation.hpp"
#include "io/summary/summary.hpp"
#include "io/timeline/manifest.hpp"
#include "partitions/world.hpp"

#include <string>
#include <vector>

namespace orrery {

// What a run shows, complete on process 0.
struct Report {
    Summary summary;
    FabricTables tables;
    Manifest manifest;
};

struct RunFacts {
    std::string command;
    double wall_s = 0;
    double earlier_wall_s = 0, earlier_cpu_s = 0;  // of the legs before
};

// What is known before the first event: no digest, no bytes on links.
FabricTables fabric_tables(Job const& job);
Manifest make_manifest(Job const& job, std::string const& command);

// Collective.
Report make_report(World const& world, Job const& job, Partition const& partition, Simulation& simulation,
                   RunOutcome const& outcome, RunFacts const& facts);

}  // namespace orrery
