// SPDX-License-Identifier: Apache-2.0
// The random sequences of routing: one per (layer, token), and one per layer for what all its tokens share.
#pragma once

#include "core/check.hpp"
#include "core/random.hpp"

#include <cstdint>

namespace orrery {

inline constexpr std::uint64_t most_tokens = std::uint64_t{1} << 47;

inline RandomSequence token_random(std::uint64_t seed, std::uint32_t moe_layer, std::uint64_t token) {
    ORRERY_EXPECT(moe_layer < (1U << 16) && token < most_tokens);
    return {seed, RandomStream::routing, (std::uint64_t{moe_layer} << 48) | token};
}

// Bit 47 is never set in a token's entity.
inline RandomSequence layer_random(std::uint64_t seed, std::uint32_t moe_layer) {
    return {seed, RandomStream::routing, (std::uint64_t{moe_layer} << 48) | most_tokens};
}

}  // namespace orrery
