// SPDX-License-Identifier: Apache-2.0
// Which domains the ways between some ranks cross, and how short a way can be.
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"

#include <span>
#include <vector>

namespace orrery {

class Fabric;

// Those of the routes of all pairs, ascending. Beyond 4,096 ranks of each rank to those at the distances 1, 2, 4, ...
// in the list: on the fabrics we know that meets every level of the hierarchy, and who carries a message checks it.
// Throws InputError when two ranks have no way to each other.
std::vector<DomainId> domains_crossed(Fabric const& fabric, std::span<RankId const> ranks);

// No route has a smaller latency: the fastest link out of an endpoint and the fastest into one, or the fastest between
// two of them.
Time least_route_latency(Fabric const& fabric);

}  // namespace orrery
