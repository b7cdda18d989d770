// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/routing_source.hpp"

#include "core/check.hpp"

#include <map>

namespace orrery {
namespace {

// A function's static, because entries in other files may be constructed first.
std::map<std::string, RoutingSourceFactory>& registry() {
    static std::map<std::string, RoutingSourceFactory> entries;
    return entries;
}

}  // namespace

RoutingSourceEntry::RoutingSourceEntry(char const* name, RoutingSourceFactory factory) {
    ORRERY_ENSURE(registry().emplace(name, factory).second, "routing source {} is registered twice", name);
}

std::vector<std::string> routing_source_names() {
    std::vector<std::string> names;
    for (auto const& [name, factory] : registry()) names.push_back(name);
    return names;
}

std::string group_limit_text(RoutingSetup const& setup) {
    if (!setup.choice().limited()) return {};
    return fmt::format(", at most {} of {} groups per token", setup.topk_group, setup.n_group);
}

std::unique_ptr<RoutingSource> make_routing_source(RoutingSetup const& setup) {
    auto const found = registry().find(setup.source);
    ORRERY_VALIDATE(found != registry().end(), "workload.routing.source is \"{}\" (no such source) use one of {}",
                    setup.source, fmt::join(routing_source_names(), ", "));
    ORRERY_ENSURE(setup.top_k >= 1 && setup.top_k <= setup.experts && setup.moe_layers >= 1, "top-{} of {} experts",
                  setup.top_k, setup.experts);
    ORRERY_VALIDATE(!setup.choice().limited() || setup.n_group <= most_limited_groups,
                    "the model limits a token to {} of {} expert groups (at most {} groups are supported) set "
                    "workload.routing.group_limited=false",
                    setup.topk_group, setup.n_group, most_limited_groups);
    return found->second(setup);
}

}  // namespace orrery
