// SPDX-License-Identifier: Apache-2.0
// orrery verify: closed-form cases on the user's machine.
#include "apps/commands/command.hpp"
#include "apps/verify/case.hpp"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

ExitCode verify_command(World const& world) {
    if (!world.root()) return ExitCode::complete;
    int failed = 0, count = 0;
    fmt::print("{:<58} {:>14} {:>14} {:>9}\n", "case", "expected", "got", "error");
    for (auto const& verify_case : verify_cases()) {
        auto const result = verify_case.run();
        auto const error = result.expected == 0 ? std::abs(result.got) : std::abs(result.got / result.expected - 1);
        bool const pass = error <= verify_case.tolerance;
        ++count;
        failed += pass ? 0 : 1;
        fmt::print("{:<58} {:>14.7g} {:>14.7g} {:>8.4f}% {} {}\n", verify_case.name, result.expected, result.got,
                   error * 100, pass ? "pass" : "FAIL", verify_case.unit);
    }
    fmt::print("{} cases, {} failed\n", count, failed);
    return failed == 0 ? ExitCode::complete : ExitCode::internal_error;
}

}  // namespace orrery
