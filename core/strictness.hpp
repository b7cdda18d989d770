// SPDX-License-Identifier: Apache-2.0
// What becomes of a file that contradicts itself.
#pragma once

#include <cstdint>

namespace orrery {

// strict refuses it; lenient takes it as it most likely was meant, and lists where.
enum class Strictness : std::uint8_t { strict, lenient };

}  // namespace orrery
