// SPDX-License-Identifier: Apache-2.0
// The messages of an all-to-all, so that every simulator that is compared gets the same ones.
#pragma once

#include "core/random.hpp"

#include <cstdint>

namespace orrery::bench {

enum class Sizes : std::uint8_t { equal, varied };

constexpr std::int64_t message = 65'536;

// Calls visit(source, target, bytes) for every pair of `hosts`; sizes uniform in 0.5 .. 1.5 messages when varied.
template <class Visit>
void for_each_message(std::uint32_t hosts, Sizes sizes, Visit const& visit) {
    RandomSequence draw(1, RandomStream::test, hosts);
    for (std::uint32_t s = 0; s < hosts; ++s)
        for (std::uint32_t t = 0; t < hosts; ++t) {
            if (s == t) continue;
            visit(s, t,
                  sizes == Sizes::equal ? message : message / 2 + draw.below(static_cast<std::uint32_t>(message)));
        }
}

}  // namespace orrery::bench
