// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

namespace orrery::detail {

void raise_internal(char const* file, int line, char const* condition, std::string const& message) {
    throw InternalError(fmt::format("internal error: {} ({} is false at {}:{})", message, condition, file, line));
}

}  // namespace orrery::detail
