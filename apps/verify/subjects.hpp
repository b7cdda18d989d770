// SPDX-License-Identifier: Apache-2.0
// The cases of `orrery verify` by subject, one file each, in the order they are shown.
#pragma once

#include "apps/verify/case.hpp"
#include "core/units.hpp"

#include <vector>

namespace orrery {

// Rounding of the product alone: a completion is the first whole picosecond, a share is rounded down to 2^-12 b/s and a
// service to 2^-20 byte. On times of 100 ns and more, and rates of 1 Gb/s and more, that is far below one in a million.
inline constexpr double rounding = 1e-6;
// Counts and integers.
inline constexpr double none = 0;

inline double microseconds(Time time) {
    return static_cast<double>(time.ps()) * 1e-6;
}

std::vector<VerifyCase> port_cases();
std::vector<VerifyCase> sharing_cases();
std::vector<VerifyCase> collective_cases();
std::vector<VerifyCase> analytic_cases();
std::vector<VerifyCase> cloudmatrix_cases();
std::vector<VerifyCase> operator_cases();
std::vector<VerifyCase> moe_cases();
std::vector<VerifyCase> run_cases();

}  // namespace orrery
