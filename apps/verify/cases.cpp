// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/case.hpp"

namespace orrery {

std::vector<VerifyCase> verify_cases() {
    return {};
}

}  // namespace orrery
