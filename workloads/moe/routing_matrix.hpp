// SPDX-License-Identifier: Apache-2.0
// Who sends how many tokens to whom in one layer and micro-batch of one expert-parallel group.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

// Messages (token, target expert) counted from the routing of every token of the group.
struct RoutingMatrix {
    std::uint32_t ep = 0;
    std::vector<std::uint32_t> count;           // [source * ep + target]: messages; the diagonal stays on the rank
    std::vector<std::uint32_t> received;        // [target]: messages received, own ones included
    std::vector<std::uint32_t> active_experts;  // [target]: slots of that rank with at least one token
    std::vector<std::uint32_t> slot_tokens;     // [target * slots_per_rank + slot]
    std::uint32_t slots_per_rank = 0;

    std::uint32_t messages(std::uint32_t source, std::uint32_t target) const {
        return count[static_cast<std::size_t>(source) * ep + target];
    }
};

}  // namespace orrery
