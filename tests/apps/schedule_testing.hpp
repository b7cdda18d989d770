// SPDX-License-Identifier: Apache-2.0
// Schedules written down in a test, and scenarios that run them.
#pragma once

#include "tests/apps/apps_testing.hpp"

namespace orrery::testing {

// Hosts on one switch: 50 GB/s, 500 ns per link, so a way takes 1 us.
inline std::string one_switch(int hosts) {
    return fmt::format("  kind: single_switch\n  single_switch: {{hosts: {}}}\n", hosts);
}

// A directory with task.yaml, the schedule, and run.yaml, a scenario that runs it on this fabric.
class ScheduleDirectory : public TempDirectory {
  public:
    ScheduleDirectory(std::string const& fabric, std::string const& schedule, std::string const& more = "") {
        write("task.yaml", schedule);
        scenario = write("run.yaml", "name: tasks\nfabric:\n" + fabric +
                                         "workload:\n  kind: schedule\n  schedule:\n    file: task.yaml\n" + more);
    }
    fs::path scenario;
};

inline std::vector<OperationRow> rows_of(Rows const& rows, OpKind kind) {
    std::vector<OperationRow> found;
    for (auto const& row : rows.operations)
        if (row.kind == kind) found.push_back(row);
    return found;
}

}  // namespace orrery::testing
