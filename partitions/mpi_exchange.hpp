// SPDX-License-Identifier: Apache-2.0
// The window exchange over MPI.
#pragma once

#include "core/exchange.hpp"
#include "partitions/world.hpp"

#include <memory>

namespace orrery {

enum class MpiSchedule : std::uint8_t {
    automatic,   // fused up to fused_process_limit processes
    fused,       // one message to every other process per window: data, null message and barrier in one
    collective,  // an allreduce of the report; counts and events follow only when somebody sent something
};
inline constexpr std::uint32_t fused_process_limit = 16;

// Collective over all processes of the world, as is the end of its life. Automatic with one process: LocalExchange.
std::unique_ptr<Exchange> make_exchange(World const& world, MpiSchedule schedule = MpiSchedule::automatic);

}  // namespace orrery
