// SPDX-License-Identifier: Apache-2.0
#include "partitions/wait.hpp"

#include <sched.h>
#include <unistd.h>

namespace orrery {
namespace {

constexpr int spins_with_a_core = 2'000;  // about 100 to 200 us of MPI_Testall
constexpr int yields = 100;
constexpr useconds_t sleep_us = 20;

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

PatientWait::PatientWait(MPI_Comm comm) {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int neighbours = 1;
    MPI_Comm_size(here, &neighbours);
    MPI_Comm_free(&here);
    // Bound to a single core each (mpirun's default for few processes): the cores of the machine count.
    int const usable = usable_cores();
    int const cores = usable > 1 ? usable : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    spins_ = neighbours <= cores ? spins_with_a_core : 1;
}

void PatientWait::operator()(std::vector<MPI_Request>& requests) const {
    if (requests.empty()) return;
    int done = 0;
    for (int attempt = 0;; ++attempt) {
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
        if (done) return;
        if (attempt < spins_) continue;
        if (attempt < spins_ + yields)
            sched_yield();
        else
            usleep(sleep_us);
    }
}

}  // namespace orrery
