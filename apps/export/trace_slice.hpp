// SPDX-License-Identifier: Apache-2.0
// What of a run is exported as a trace: ranks, a piece of time, and the operations in them.
#pragma once

#include "apps/report/run_file.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace orrery {

struct TraceSlice {
    std::uint32_t first_rank = 0, last_rank = std::numeric_limits<std::uint32_t>::max();
    Time from{}, until = Time::infinity();

    // "17" or "0-15"; times as in scenarios. Empty texts: everything.
    static TraceSlice parse(std::string const& ranks, std::string const& from, std::string const& until);

    bool has(std::uint32_t rank, Time start, Time end) const {
        return rank >= first_rank && rank <= last_rank && start < until && end > from;
    }
};

struct TraceOperation {
    std::int64_t start_ps = 0, end_ps = 0, wait_ps = 0, exposed_ps = 0;
    std::uint32_t rank = 0;
    std::uint16_t layer = 0;
    std::uint8_t kind = 0, microbatch = 0;
};

// Calls visit(operation) for those of the slice, in the order of the timeline.
template <class Visit>
void each_operation(RunFile const& run, TraceSlice const& slice, Visit const& visit) {
    run.each_row(TableId::operations, [&](RowBlock const& block, std::size_t row) {
        TraceOperation const operation{.start_ps = block.at<std::int64_t>(0, row),
                                       .end_ps = block.at<std::int64_t>(1, row),
                                       .wait_ps = block.at<std::int64_t>(2, row),
                                       .exposed_ps = block.at<std::int64_t>(3, row),
                                       .rank = block.at<std::uint32_t>(4, row),
                                       .layer = block.at<std::uint16_t>(6, row),
                                       .kind = block.at<std::uint8_t>(7, row),
                                       .microbatch = block.at<std::uint8_t>(8, row)};
        if (slice.has(operation.rank, Time::from_ps(operation.start_ps), Time::from_ps(operation.end_ps)))
            visit(operation);
    });
}

// How many operations were written. The file is replaced at once.
struct Exported {
    std::int64_t operations = 0, counters = 0;
};
// For ui.perfetto.dev: a track per rank and stream, a counter per link.
Exported export_perfetto(RunFile const& run, TraceSlice const& slice, std::filesystem::path const& path);
// For chrome://tracing and what else reads its JSON. Refuses more operations than such programs can hold.
Exported export_chrome(RunFile const& run, TraceSlice const& slice, std::filesystem::path const& path);

}  // namespace orrery
