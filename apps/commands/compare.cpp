// SPDX-License-Identifier: Apache-2.0
// orrery compare: two runs, what differs and why.
#include "apps/commands/look_back.hpp"
#include "apps/compare/compare_runs.hpp"

#include <fmt/format.h>

namespace orrery {

ExitCode compare_command(CompareArguments const& arguments) {
    RunFile const before(arguments.before), after(arguments.after);
    fmt::print("before: {} ({})\nafter:  {} ({})\n\n{}", before.scenario().name(), before.path().string(),
               after.scenario().name(), after.path().string(), text_of(compare_runs(before, after)));
    return ExitCode::complete;
}

}  // namespace orrery
