// SPDX-License-Identifier: Apache-2.0
// How a process waits for MPI requests: without starving those it waits for, and not for ever.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

namespace orrery {

// How long a process waits for the others before it takes them for dead or hung: MPI tells nobody that a process stands
// still, and under some launchers not even that it died.
inline constexpr double default_hang_limit_s = 600;

// Polls: first in a tight loop (messages of a dense phase are there within microseconds), then giving up the core each
// time, then sleeping 20 us between polls, so that a process that waits for a slow neighbour does not burn a core.
// With more processes than cores the tight loop is left out, because it runs in the time of the one awaited.
// Whoever waits for a tenth of the limit says so once; at the limit it says whom it waits for and ends all processes.
class PatientWait {
  public:
    explicit PatientWait(MPI_Comm comm, double hang_limit_s = default_hang_limit_s);  // collective
    void set_limit(double seconds) { hang_limit_s_ = seconds; }
    double limit_s() const { return hang_limit_s_; }
    // `peers`: the process behind each request, for the message; empty: all of them take part in each.
    void operator()(std::vector<MPI_Request>& requests, std::span<int const> peers = {}) const;

  private:
    std::string awaited(std::vector<MPI_Request> const& requests, std::span<int const> peers) const;

    MPI_Comm comm_;
    int spins_;
    double hang_limit_s_;
};

}  // namespace orrery
