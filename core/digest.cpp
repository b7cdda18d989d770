// SPDX-License-Identifier: Apache-2.0
#include "core/digest.hpp"

#include <fmt/format.h>

namespace orrery {

std::string Digest::hex() const {
    return fmt::format("{:016x}{:016x}", high, low);
}

}  // namespace orrery
