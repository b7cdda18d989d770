// SPDX-License-Identifier: Apache-2.0
// A whole run without files: the job's own simulation, on this process alone or on several pretended ones.
#pragma once

#include "apps/run/job.hpp"
#include "core/digest.hpp"
#include "core/records.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

struct InMemoryRun {
    Digest digest;
    std::int64_t injected_bytes = 0, delivered_bytes = 0, unfinished_ranks = 0;
    std::vector<OperationRow> operations;

    // The mean time of an operation once the last of its peers has started it.
    double mean_microseconds(OpKind kind) const;
};

InMemoryRun run_in_memory(Job const& job, std::uint32_t processes = 1);

}  // namespace orrery
