// SPDX-License-Identifier: Apache-2.0
// Arrays of events as MPI messages: bytes, cut into pieces that fit an int.
#pragma once

#include "core/check.hpp"
#include "core/event.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::transfer {

inline constexpr std::int64_t piece_events = std::int64_t{1} << 24;  // 1 GiB; MPI counts are ints

// Events are moved as they lie in memory, never through Boost.MPI's archives (50 to 60 times slower); all processes
// run the same binary.
inline void start_send(Event const* events, std::int64_t count, int to, int tag, MPI_Comm comm,
                       std::vector<MPI_Request>& requests) {
    for (std::int64_t at = 0; at < count; at += piece_events) {
        auto const bytes =
            static_cast<int>(std::min(piece_events, count - at) * static_cast<std::int64_t>(sizeof(Event)));
        MPI_Isend(events + at, bytes, MPI_BYTE, to, tag, comm, &requests.emplace_back());
    }
}

inline void start_receive(Event* events, std::int64_t count, int from, int tag, MPI_Comm comm,
                          std::vector<MPI_Request>& requests) {
    for (std::int64_t at = 0; at < count; at += piece_events) {
        auto const bytes =
            static_cast<int>(std::min(piece_events, count - at) * static_cast<std::int64_t>(sizeof(Event)));
        MPI_Irecv(events + at, bytes, MPI_BYTE, from, tag, comm, &requests.emplace_back());
    }
}

}  // namespace orrery::transfer
