// SPDX-License-Identifier: Apache-2.0
#include "core/random.hpp"

#include <Random123/philox.h>

namespace orrery {

std::array<std::uint32_t, 4> philox(std::uint64_t seed, RandomStream stream, std::uint64_t entity, std::uint32_t draw) {
    // Key: the seed. Counter: stream, entity (two words), draw number.
    r123::Philox4x32 generator;
    r123::Philox4x32::ctr_type const counter = {{draw, static_cast<std::uint32_t>(entity),
                                                 static_cast<std::uint32_t>(entity >> 32),
                                                 static_cast<std::uint32_t>(stream)}};
    r123::Philox4x32::key_type const key = {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    auto const block = generator(counter, key);
    return {block[0], block[1], block[2], block[3]};
}

}  // namespace orrery
