// SPDX-License-Identifier: Apache-2.0
// What the ranks of a schedule know of everything around them: shared by all ranks of a process.
#pragma once

#include "core/ids.hpp"
#include "netmodels/exchange/message_timing.hpp"
#include "netmodels/topology/fabric.hpp"
#include "workloads/collectives/collective_book.hpp"
#include "workloads/schedule/schedule.hpp"

#include <span>

namespace orrery {

// What a schedule asks of who plans its collectives.
inline CollectiveWish wish_of(CollectiveSpec const& spec) {
    return {.op = spec.op,
            .bytes = spec.bytes,
            .root = spec.root,
            .algorithm = spec.algorithm,
            .protocol = spec.protocol,
            .pair_bytes = spec.pair_bytes};
}

struct ScheduleWorld {
    Schedule const* schedule = nullptr;
    Fabric const* fabric = nullptr;
    std::span<RankId const> place;     // per rank of the schedule, which is its LP as well
    std::span<LpId const> domain_lps;  // per domain of the fabric; invalid where nothing is carried
    MessageTiming timing;
    CollectiveBook* collectives = nullptr;

    LpId carrier(std::uint32_t source, std::uint32_t target) const {
        return domain_lps[fabric->route(place[source], place[target]).domain.index()];
    }
};

}  // namespace orrery
