// SPDX-License-Identifier: Apache-2.0
#include "partitions/mpi_exchange.hpp"

#include "partitions/collective_exchange.hpp"
#include "partitions/fused_exchange.hpp"

namespace orrery {

std::unique_ptr<Exchange> make_exchange(World const& world, MpiSchedule schedule) {
    if (schedule == MpiSchedule::automatic) {
        if (world.count() == 1) return std::make_unique<LocalExchange>();
        schedule = world.count() <= fused_process_limit ? MpiSchedule::fused : MpiSchedule::collective;
    }
    if (schedule == MpiSchedule::fused) return std::make_unique<FusedExchange>(MPI_COMM_WORLD, world.hang_limit_s());
    return std::make_unique<CollectiveExchange>(MPI_COMM_WORLD, world.hang_limit_s());
}

}  // namespace orrery
