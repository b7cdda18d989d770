// SPDX-License-Identifier: Apache-2.0
// orrery recover: what a killed run left becomes one finished file.
#include "io/timeline/recover.hpp"

#include "apps/commands/command.hpp"

#include <fmt/format.h>

namespace orrery {

ExitCode recover_command(World const& world, RecoverArguments const& arguments) {
    if (!world.root()) return ExitCode::complete;
    auto const found =
        recover_timeline(arguments.directory, arguments.out, arguments.force ? Overwrite::yes : Overwrite::no);
    auto const whole = found.complete_until == Time::infinity();
    fmt::print("{}: complete {}{} (leg {}, {} process{})\n", found.file.string(),
               whole ? "to the end of the run" : "up to simulated time ", whole ? "" : to_string(found.complete_until),
               found.leg, found.processes, found.processes == 1 ? "" : "es");
    for (std::size_t t = 0; t < found.rows.size(); ++t)
        fmt::print("  {:<14} {:>12} rows\n", timeline_tables()[t].name, found.rows[t]);
    if (!found.note.empty()) fmt::print("note: {}\n", found.note);
    return ExitCode::complete;
}

}  // namespace orrery
