// SPDX-License-Identifier: Apache-2.0
// The system file of ASTRA-sim: how collectives are carried out, and what compute without a duration costs.
#pragma once

#include "workloads/collectives/shape.hpp"
#include "workloads/devices/device.hpp"
#include "workloads/imports/findings.hpp"

#include <filesystem>
#include <map>
#include <optional>

namespace orrery {

struct AstraSystem {
    std::map<CollectiveOp, std::string> algorithms;  // by our names; absent: chosen
    std::optional<double> peak_ops_per_s;            // peak-perf, in 10^12
    std::optional<double> memory_bytes_per_s;        // local-mem-bw, in 10^9
    bool roofline = false;                           // compute has no durations, whatever the trace says

    std::string algorithm(CollectiveOp op) const {
        auto const found = algorithms.find(op);
        return found == algorithms.end() ? std::string{} : found->second;
    }
    // The device of the scenario, with what the file says in its place.
    Device device(Device const& of_scenario) const;
};

// An empty path gives one that says nothing. What it says and cannot be honoured is counted.
AstraSystem read_astra_system(std::filesystem::path const& path, Findings& findings);

}  // namespace orrery
