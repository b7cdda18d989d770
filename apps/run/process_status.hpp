// SPDX-License-Identifier: Apache-2.0
// What one process tells of itself when all of them are asked: in a heartbeat, a status and the final report.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct ProcessStatus {
    std::int64_t events = 0, pending = 0, rows = 0, memory_bytes = 0;
    double busy_s = 0;   // inside its LPs and its queue, without what it wrote
    double sync_s = 0;   // waiting for the others
    double write_s = 0;  // into its part of the timeline and checkpoints
    double active_s() const { return busy_s + sync_s + write_s; }

    static constexpr std::size_t word_count = 7;
    std::vector<std::int64_t> words() const;
    static std::vector<ProcessStatus> from_words(std::span<std::int64_t const> words);
};

// Collective: all statuses, in order of processes, on process 0; empty elsewhere.
using GatherStatus = std::function<std::vector<ProcessStatus>(ProcessStatus const&)>;

// Largest over mean of the busy time; 1 when nobody was busy.
double busy_imbalance(std::span<ProcessStatus const> all);
// Share of the processes' time that went into waiting for each other.
double sync_share(std::span<ProcessStatus const> all);
std::int64_t total_rows(std::span<ProcessStatus const> all);

// One line per process, of at most `limit` processes.
std::string status_table(std::span<ProcessStatus const> all, std::size_t limit);

}  // namespace orrery
