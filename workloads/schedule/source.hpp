// SPDX-License-Identifier: Apache-2.0
// Where schedules come from: formats of files, each of which registers itself.
#pragma once

#include "workloads/schedule/schedule.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// A schedule as it was read, and what its reader has to say.
struct ReadSchedule {
    std::unique_ptr<Schedule> schedule;
    std::string format;              // "GOAL"
    std::vector<std::string> notes;  // what could not be honoured, and assumptions
};

struct ScheduleFormat {
    std::string name;
    // By its name and its first bytes (4 KiB, fewer in a shorter file). Of several that do, the first by name reads it.
    bool (*recognises)(std::filesystem::path const& file, std::string_view head);
    // Throws one InputError that lists every problem. What it returns has no problems_of().
    ReadSchedule (*read)(std::filesystem::path const& file);
};

// A namespace-scope object of this type, one per reader, is all that adding a format takes.
class ScheduleFormatRegistration {
  public:
    explicit ScheduleFormatRegistration(ScheduleFormat format);
};

// In alphabetical order.
std::vector<ScheduleFormat const*> schedule_formats();
// Throws InputError when no format recognises the file.
ReadSchedule read_schedule(std::filesystem::path const& file);

}  // namespace orrery
