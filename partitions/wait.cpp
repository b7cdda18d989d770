// SPDX-License-Identifier: Apache-2.0
#include "partitions/wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
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

PatientWait::PatientWait(MPI_Comm comm, double hang_limit_s) : comm_(comm), hang_limit_s_(hang_limit_s) {
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

void PatientWait::operator()(std::vector<MPI_Request>& requests, std::span<int const> peers) const {
    if (requests.empty()) return;
    auto const arrived = [&requests] {
        int done = 0;
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
        return done != 0;
    };
    for (int attempt = 0; attempt < spins_ + yields; ++attempt) {
        if (arrived()) return;
        if (attempt >= spins_) sched_yield();
    }
    auto before = std::chrono::steady_clock::now();
    double warn_at = hang_limit_s_ / 10, waited = 0;
    while (!arrived()) {
        usleep(sleep_us);
        auto const now = std::chrono::steady_clock::now();
        // A process that was stopped itself (a suspended job) has not waited meanwhile.
        constexpr double most_of_one_sleep_s = 1;
        waited += std::min(most_of_one_sleep_s, std::chrono::duration<double>(now - before).count());
        before = now;
        if (waited < warn_at) continue;
        bool const gives_up = waited >= hang_limit_s_;
        fmt::print(stderr, "orrery: {} for {:.3g} s{}\n", awaited(requests, peers), waited,
                   gives_up ? " (it died or hangs, see --hang-limit): ending all processes" : "");
        std::fflush(stderr);
        if (gives_up) MPI_Abort(comm_, 1);
        warn_at = hang_limit_s_;
    }
}

std::string PatientWait::awaited(std::vector<MPI_Request> const& requests, std::span<int const> peers) const {
    int index = 0, count = 1;
    MPI_Comm_rank(comm_, &index);
    MPI_Comm_size(comm_, &count);
    std::vector<int> missing;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        int here = 0;
        MPI_Request_get_status(requests[i], &here, MPI_STATUS_IGNORE);
        if (!here) missing.push_back(peers[i]);
    }
    auto const whom =
        missing.empty() ? std::string{"some other process"} : fmt::format("process {}", fmt::join(missing, ", "));
    return fmt::format("process {} of {} has heard nothing from {}", index, count, whom);
}

}  // namespace orrery
