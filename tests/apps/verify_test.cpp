// SPDX-License-Identifier: Apache-2.0
// The closed-form cases of `orrery verify`: enough of them, all named and bounded, all passing.
#include "apps/verify/case.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>

namespace orrery {
namespace {

double error_of(VerifyResult const& result) {
    return result.expected == 0 ? std::abs(result.got) : std::abs(result.got / result.expected - 1);
}

TEST(Verify, EveryCaseAgreesWithItsFormula) {
    for (auto const& verify_case : verify_cases()) {
        auto const result = verify_case.run();
        EXPECT_LE(error_of(result), verify_case.tolerance) << verify_case.name << ": expected " << result.expected
                                                           << " " << verify_case.unit << ", got " << result.got;
    }
}

TEST(Verify, HasEnoughCasesAndTellsThemApart) {
    auto const cases = verify_cases();
    EXPECT_GE(cases.size(), 20U);
    std::set<std::string> names;
    for (auto const& verify_case : cases) {
        EXPECT_TRUE(names.insert(verify_case.name).second) << verify_case.name << " is there twice";
        EXPECT_LE(verify_case.name.size(), 58U) << verify_case.name << " does not fit its column";
        EXPECT_FALSE(verify_case.unit.empty()) << verify_case.name;
        EXPECT_LE(verify_case.tolerance, 0.01) << verify_case.name << " proves nothing";
    }
}

// The product is asked, not quoted: nothing random or measured agrees with its formula to the last bit.
TEST(Verify, StatisticalAndCalibratedCasesAreComputed) {
    int inexact = 0;
    for (auto const& verify_case : verify_cases()) {
        if (verify_case.tolerance < 1e-4) continue;
        auto const result = verify_case.run();
        EXPECT_NE(result.got, result.expected) << verify_case.name;
        ++inexact;
    }
    EXPECT_GE(inexact, 4);
}

}  // namespace
}  // namespace orrery
