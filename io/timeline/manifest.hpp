// SPDX-License-Identifier: Apache-2.0
// What a finished timeline says beside its rows: where the result comes from, its fabric and its totals.
#pragma once

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

struct FabricTables {
    BundleTable bundles;
    std::vector<std::string> class_names, domain_names;
    std::function<std::string(std::uint32_t bundle)> bundle_name;  // computed, asked only for bundles that are written
    Time span;  // what utilisation refers to: the simulated time of the run
};

}  // namespace orrery
