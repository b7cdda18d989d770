// SPDX-License-Identifier: Apache-2.0
// workload.kind: collective, as a schedule of one task per rank (or several alike, one after the other).
#pragma once

#include "io/scenario/load.hpp"
#include "netmodels/topology/fabric.hpp"
#include "workloads/schedule/placed_schedule.hpp"

namespace orrery {

// Throws InputError when the members do not fit on the fabric or nothing can carry out the operation.
PlacedSchedule::Part collective_part(LoadedScenario const& loaded, Fabric const& fabric);

}  // namespace orrery
