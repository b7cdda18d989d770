// SPDX-License-Identifier: Apache-2.0
// All processes learn the earliest failure of a window.
#pragma once

#include "core/exchange.hpp"

#include <mpi.h>

namespace orrery {

// Collective; called only when the combined report says that somebody failed.
Failure agree_failure(Failure const& mine, MPI_Comm comm);

}  // namespace orrery
