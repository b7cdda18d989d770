// SPDX-License-Identifier: Apache-2.0
// How a process waits for MPI requests without starving those it waits for.
#pragma once

#include <mpi.h>

#include <vector>

namespace orrery {

// Polls: first in a tight loop (messages of a dense phase are there within microseconds), then giving up the core each
// time, then sleeping 20 us between polls, so that a process that waits for a slow neighbour does not burn a core.
// With more processes than cores the tight loop is left out, because it runs in the time of the one awaited.
class PatientWait {
  public:
    explicit PatientWait(MPI_Comm comm);  // collective
    void operator()(std::vector<MPI_Request>& requests) const;

  private:
    int spins_;
};

}  // namespace orrery
