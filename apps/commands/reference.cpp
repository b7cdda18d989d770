// SPDX-License-Identifier: Apache-2.0
// orrery reference: the scenario reference, generated from the schema.
#include "apps/commands/command.hpp"
#include "io/scenario/load.hpp"

#include <fmt/format.h>

namespace orrery {

ExitCode reference_command(World const& world) {
    if (world.root()) fmt::print("{}", reference_markdown());
    return ExitCode::complete;
}

}  // namespace orrery
