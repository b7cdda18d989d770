// SPDX-License-Identifier: Apache-2.0
// One closed-form case of `orrery verify`: a number that is known, and how Orrery comes to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace orrery {

struct VerifyResult {
    double expected = 0, got = 0;
};

struct VerifyCase {
    std::string name, unit;
    double tolerance = 0;  // relative; absolute when the expected value is zero
    std::function<VerifyResult()> run;
};

std::vector<VerifyCase> verify_cases();

}  // namespace orrery
