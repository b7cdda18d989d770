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

namespace {

std::unique_ptr<Fabric> fabric_at(scenario::FabricSpec const& spec, std::uint64_t seed,
                                  std::span<Degradation const> degradations, Time now) {
    std::vector<Degradation> present;
    for (auto const& d : degradations)
        if (d.always() || (d.from <= now && now < d.until)) present.push_back(d);
    auto fabric = make_fabric(spec, seed);
    fabric->degrade(present);
    return fabric;
}

std::vector<Rate> bundle_rates(Fabric const& fabric) {
    std::vector<Rate> rates;
    for (auto const& bundle : fabric.bundles()) rates.push_back(bundle.capacity);
    return rates;
}

std::vector<Rate> link_rates(Fabric const& fabric) {
    std::vector<Rate> rates;
    for (auto const& link : fabric.links()) rates.push_back(link.rate);
    return rates;
}

// Calls change(instant, number, rate) for each of what `rates_of` tells of a fabric that is not what it was before. The
// state between two instants is that of a fabric of its own, which knows how its bundles go with its links.
template <class RatesOf, class Change>
void for_each_change(scenario::FabricSpec const& spec, std::uint64_t seed, std::span<Degradation const> degradations,
                     RatesOf const& rates_of, Change const& change) {
    std::vector<Time> instants;
    for (auto const& d : degradations)
        if (!d.always()) instants.insert(instants.end(), {d.from, d.until});
    std::sort(instants.begin(), instants.end());
    instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
    std::vector<Rate> before;
    for (auto const instant : instants) {
        if (before.empty()) before = rates_of(*fabric_at(spec, seed, degradations, Time::from_ps(-1)));
        if (instant == Time::infinity()) break;
        auto after = rates_of(*fabric_at(spec, seed, degradations, instant));
        for (std::uint32_t i = 0; i < after.size(); ++i)
            if (after[i] != before[i]) change(instant, i, after[i]);
        before = std::move(after);
    }
}

}  // namespace

std::vector<Degradation> degradations_of(scenario::FabricSpec const& spec) {
    std::vector<Degradation> result;
    for (int i = 0; i < spec.degrade_size(); ++i) {
        auto const& entry = spec.degrade(i);
        result.push_back({.pattern = entry.links(),
                          .rate_factor = entry.has_rate_factor() ? entry.rate_factor() : 1.0,
                          .extra_latency = Time::from_ps(entry.extra_latency()),
                          .down = entry.down(),
                          .where = fmt::format("fabric.degrade[{}]", i),
                          .from = Time::from_ps(entry.from()),
                          .until = entry.until() > 0 ? Time::from_ps(entry.until()) : Time::infinity()});
    }
    return result;
}

std::vector<CapacityChange> timetable_of(scenario::FabricSpec const& spec, std::uint64_t seed,
                                         std::span<Degradation const> degradations) {
    std::vector<CapacityChange> changes;
    for_each_change(spec, seed, degradations, bundle_rates,
                    [&](Time at, std::uint32_t bundle, Rate rate) { changes.push_back({at, BundleId{bundle}, rate}); });
    return changes;
}

std::vector<LinkChange> link_timetable_of(scenario::FabricSpec const& spec, std::uint64_t seed,
                                          std::span<Degradation const> degradations) {
    std::vector<LinkChange> changes;
    for_each_change(spec, seed, degradations, link_rates,
                    [&](Time at, std::uint32_t link, Rate rate) { changes.push_back({at, LinkId{link}, rate}); });
    return changes;
}

}  // namespace orrery
