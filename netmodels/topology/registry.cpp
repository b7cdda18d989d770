// SPDX-License-Identifier: Apache-2.0
// The table of fabric factories.
#include "netmodels/topology/registry.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"
#include "proto/scenario.pb.h"

#include <map>

namespace orrery {
namespace {

// A function-local table: it exists before the first registration, whatever the order of static initialisation.
std::map<std::string, FabricFactory, std::less<>>& factories() {
    static std::map<std::string, FabricFactory, std::less<>> table;
    return table;
}

}  // namespace

FabricRegistration::FabricRegistration(std::string_view kind, FabricFactory factory) {
    bool const added = factories().emplace(kind, factory).second;
    ORRERY_ENSURE(added, "two fabrics register as '{}'", kind);
}

std::vector<std::string> fabric_kinds() {
    std::vector<std::string> kinds;
    for (auto const& entry : factories()) kinds.push_back(entry.first);
    return kinds;
}

std::unique_ptr<Fabric> make_fabric(scenario::FabricSpec const& spec, std::uint64_t seed) {
    auto const found = factories().find(spec.kind());
    if (found == factories().end()) {
        NearestNames nearest(spec.kind());
        for (auto const& kind : fabric_kinds()) nearest.offer(kind);
        throw InputError(
            fmt::format("fabric.kind is '{}' (no such fabric); did you mean {}?", spec.kind(), nearest.text()));
    }
    return found->second(spec, seed);
}

std::vector<Degradation> degradations_of(scenario::FabricSpec const& spec) {
    std::vector<Degradation> result;
    for (int i = 0; i < spec.degrade_size(); ++i) {
        auto const& entry = spec.degrade(i);
        result.push_back({.pattern = entry.links(),
                          .rate_factor = entry.has_rate_factor() ? entry.rate_factor() : 1.0,
                          .extra_latency = Time::from_ps(entry.extra_latency()),
                          .down = entry.down(),
                          .where = fmt::format("fabric.degrade[{}]", i)});
    }
    return result;
}

}  // namespace orrery
