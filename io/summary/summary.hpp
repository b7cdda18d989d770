// SPDX-License-Identifier: Apache-2.0
// The result of a run in one page: what summary.json holds (docs/summary.md) and what the result screen shows.
#pragma once

#include "io/timeline/manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace orrery {

struct Summary {
    struct Conservation {
        std::int64_t injected_bytes = 0, delivered_bytes = 0, dropped_bytes = 0, in_flight_bytes = 0;
    };
    struct Operation {
        std::string name;
        std::int64_t count = 0;
        double mean_s = 0, p50_s = 0, p99_s = 0, max_s = 0;
        double wait_mean_s = 0;    // of mean_s: waiting for peers that had not started
        double exposed_share = 0;  // of the duration: the compute stream was idle
        double bound_s = 0;        // no schedule could be faster; 0: none is known
        std::string bound_by;      // a link class, an engine, a memory; empty: none is known
        std::string bound_link;    // communication: the link that binds most often; empty: none does
        std::string formula;       // what priced the duration
    };
    struct Link {
        std::string name;
        std::int64_t bytes = 0;
        double utilisation = 0;
        std::int64_t max_queue_bytes = 0;  // from here on: of the packet model
        double busy_s = 0, paused_s = 0;
        std::int64_t marks = 0, drops = 0;
    };
    // What the packet model counted; nothing in a run of another one.
    struct Packets {
        struct Quantiles {
            double mean = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
        };
        struct Queues {
            std::string link_class;
            std::vector<std::int64_t> packets;  // by the queue that they found: none, < 1, < 2, < 4, ... packets
        };
        std::int64_t injected = 0, delivered = 0, dropped = 0, lost = 0, blocked = 0, sent_again = 0, control = 0;
        std::int64_t marks = 0, pauses = 0, credit_stalls = 0;
        std::int64_t max_queue_bytes = 0;
        std::string max_queue_link;
        std::int64_t flows = 0;  // completed
        Quantiles flow_time_s, slowdown;
        std::vector<Queues> queues;
        std::vector<std::string> notes;  // why counters are zero
    };
    struct Imbalance {
        double ranks = 1, experts = 1;  // maximum over mean of received tokens
    };
    struct Process {
        std::int64_t events = 0;
        double busy_s = 0, waiting_s = 0, writing_s = 0;
        std::int64_t memory_bytes = 0;  // highest resident size
    };
    struct Parallel {
        std::vector<Process> processes;
        double lookahead_s = 0;
        std::string lookahead_reason;       // the operator or link class that sets it
        std::vector<std::string> limiting;  // links that were cut and have this lookahead, at most three
        double events_per_window = 0;
        double busy_imbalance = 1;  // largest over mean busy time
        double sync_share = 0;      // of the processes' time
        std::string advice;
    };

    std::string digest;
    bool complete = false;
    std::int64_t processes = 1;
    std::int64_t ranks = 0;  // simulated
    double simulated_time_s = 0, step_time_s = 0;
    double wall_s = 0, cpu_s = 0;     // CPU: summed over processes
    std::int64_t peak_rss_bytes = 0;  // summed over processes
    std::int64_t events = 0, flows = 0, packet_hops = 0, windows = 0;
    std::string network_model, fabric, model;
    Conservation conservation;
    std::vector<Operation> operations;
    std::vector<Link> links;  // hottest first
    Packets packets;
    Imbalance imbalance;
    Parallel parallel;  // of the last leg
    std::vector<std::string> ignored, warnings;
};

// Replaces the file at once. InputError with path and reason when that fails.
void write_summary_json(std::filesystem::path const& path, Summary const& summary);

// Adds the scalars of a summary to /summary and those that depend on the execution to /run.
void add_to_manifest(Manifest& manifest, Summary const& summary);

}  // namespace orrery
