// SPDX-License-Identifier: Apache-2.0
// Events of collectives: between a member's rank and the domains that carry it, and among those.
#pragma once

#include <cstdint>

namespace orrery {

enum CollectiveEvent : std::uint16_t {
    // rank -> each domain that carries some of it. body: number of the collective, member, start on the rank (ps),
    // task.
    collective_join = 21,
    // the first of those domains -> rank: its part is over. body: task, latest start among the members so far (ps).
    collective_over = 22,
    // domain -> the other domains of the collective, ahead of the arrival of a message. body: number of the collective,
    // source << 32 | target, lane << 32 | step, arrival (ps).
    collective_arrival = 23,
};

}  // namespace orrery
