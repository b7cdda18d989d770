// SPDX-License-Identifier: Apache-2.0
// Fabrics by name: each fabric's one file registers a factory, and a scenario picks one.
#pragma once

#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

namespace scenario {
class FabricSpec;  // proto/scenario.proto; the generated header is for the .cpp files only
}  // namespace scenario

// Builds a healthy fabric. The specification is fully resolved: every field is set.
using FabricFactory = std::unique_ptr<Fabric> (*)(scenario::FabricSpec const&, std::uint64_t seed);

// A namespace-scope object of this type, one per fabric file, is all that adding a fabric takes.
class FabricRegistration {
  public:
    FabricRegistration(std::string_view kind, FabricFactory factory);
};

// Registered names in alphabetical order.
std::vector<std::string> fabric_kinds();

// The healthy fabric of that kind; an unknown kind is an InputError with the nearest names.
std::unique_ptr<Fabric> make_fabric(scenario::FabricSpec const&, std::uint64_t seed);

// What the specification asks to degrade, for Fabric::degrade; `where` is the path of the entry ("fabric.degrade[2]").
std::vector<Degradation> degradations_of(scenario::FabricSpec const&);
// What degradations with a beginning or an end do to the capacity of bundles, in order of time. Routes, their caps and
// latencies stay those of the start.
std::vector<CapacityChange> timetable_of(scenario::FabricSpec const&, std::uint64_t seed, std::span<Degradation const>);
// The same link by link, for models that know them.
std::vector<LinkChange> link_timetable_of(scenario::FabricSpec const&, std::uint64_t seed,
                                          std::span<Degradation const>);

}  // namespace orrery
