// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/case.hpp"
#include "apps/verify/subjects.hpp"

#include <iterator>

namespace orrery {

std::vector<VerifyCase> verify_cases() {
    std::vector<VerifyCase> all;
    for (auto const subject : {port_cases, sharing_cases, collective_cases, analytic_cases, cloudmatrix_cases,
                               operator_cases, moe_cases, run_cases}) {
        auto cases = subject();
        all.insert(all.end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
    }
    return all;
}

}  // namespace orrery
