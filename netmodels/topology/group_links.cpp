// SPDX-License-Identifier: Apache-2.0
#include "netmodels/topology/group_links.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <map>

namespace orrery {

GroupLinks::GroupLinks(std::uint32_t groups, std::uint32_t switches, std::uint32_t links_per_pair, std::uint32_t ports,
                       std::string_view field)
    : groups_(groups), per_pair_(links_per_pair), ports_(ports) {
    auto const wanted = static_cast<std::uint64_t>(groups - 1) * links_per_pair;
    if (ports_ == 0) ports_ = std::max(1U, static_cast<std::uint32_t>((wanted + switches - 1) / switches));
    ORRERY_VALIDATE(
        static_cast<std::uint64_t>(switches) * ports_ >= wanted,
        "{}.groups is {} ({} switches with {} global ports reach {} links of the {} that join a group to all "
        "others {} times); use at most {} groups or more ports",
        field, groups, switches, ports_, std::uint64_t{switches} * ports_, wanted, links_per_pair,
        std::uint64_t{switches} * ports_ / links_per_pair + 1);
}

std::vector<GroupLinks::Joined> GroupLinks::joined(std::uint32_t group, std::uint32_t other) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lanes;
    for (std::uint32_t link = 0; link < per_pair_; ++link) {
        auto const [from, to] = ends(group, other, link);
        ++lanes[{from, to}];
    }
    std::vector<Joined> result;
    for (auto const& [pair, count] : lanes) result.push_back({{pair.first, pair.second}, count});
    return result;
}

}  // namespace orrery
