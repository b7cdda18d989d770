// SPDX-License-Identifier: Apache-2.0
// Files of other tools as schedules: found out by content and name, read, checked, and reported on.
#pragma once

#include "workloads/devices/device.hpp"
#include "workloads/imports/findings.hpp"
#include "workloads/schedule/schedule.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// What a file alone does not say. Importers that have no use for an option leave it alone.
struct ImportOptions {
    Strictness strictness = Strictness::strict;
    std::uint32_t ranks = 0;            // that take part; 0: as many as the file says or names
    std::uint32_t available = 0;        // ranks of the fabric; 0: not known. Taken where nothing else is said
    std::uint64_t seed = 1;             // of random traffic
    std::filesystem::path topology;     // HPCC: whose hosts, in order, are the ranks; empty: that of the fabric
    std::filesystem::path fabric_file;  // of a fabric that was read from one
    std::filesystem::path groups;  // Chakra: JSON of communicators; empty: PREFIX.json beside the trace, if it is there
    std::filesystem::path system;  // ASTRA-sim system JSON: collective algorithms, roofline
    Device device;                 // prices compute that has no duration of its own
    // Random traffic of a flow-size distribution: each rank offers `load` of host_rate until `duration`.
    double load = 0.3;
    Rate host_rate = Rate::from_bits_per_s(100'000'000'000);
    Time duration = Time::from_ps(10'000'000'000);
    std::int64_t eager_bytes = 65'535;  // GOAL: a send of at most that is over, for its rank, when it has started
    std::uint32_t passes = 1;           // layer workloads: training steps
    std::uint32_t first_dimension = 0;  // ASTRA-sim 1: ranks in the first dimension of the topology
};

struct Import {
    std::unique_ptr<Schedule> schedule;
    ImportReport report;
};

// How a kind of file is known and read. `head` is its first few KiB.
struct Importer {
    std::string name;   // "goal"
    std::string title;  // "GOAL text schedule (LogGOPSim, ATLAHS)"
    bool (*recognises)(std::filesystem::path const&, std::string_view head);
    std::unique_ptr<Schedule> (*read)(std::filesystem::path const&, ImportOptions const&, Findings&);
};

// A namespace-scope object of this type, one per importer file, is all that adding an importer takes.
class ImporterRegistration {
  public:
    explicit ImporterRegistration(Importer importer);
};

// By name, in alphabetical order.
std::vector<Importer const*> importers();
// The importer of a file. What none reads is an InputError that says what the file is instead, where that is known.
Importer const& importer_of(std::filesystem::path const& path);

// What a run should say of it: ignored, assumed, mended, as sentences.
std::vector<std::string> notes_of(ImportReport const& report);

// Everything wrong with the file is one InputError, unless the options are lenient and it has an evident reading.
Import import_file(std::filesystem::path const& path, ImportOptions const& options);

}  // namespace orrery
