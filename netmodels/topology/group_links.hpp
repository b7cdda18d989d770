// SPDX-License-Identifier: Apache-2.0
// Which switches of two groups hold the links between them: the absolute arrangement of dragonflies.
#pragma once

#include "netmodels/topology/graph_fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// The global ports of a group are numbered over its switches. Port k of group i leads to group k, or k + 1 from i on;
// the second link of every pair begins where the first ones end, and so on.
class GroupLinks {
  public:
    struct Ends {
        std::uint32_t from = 0, to = 0;  // switches in their groups
    };

    // `ports` of each switch; 0: as many as it takes. A shape with a pair of groups that no port is left for is
    // refused; `field` names the fabric in the message.
    GroupLinks(std::uint32_t groups, std::uint32_t switches, std::uint32_t links_per_pair, std::uint32_t ports,
               std::string_view field);

    std::uint32_t per_pair() const { return per_pair_; }
    std::uint32_t ports() const { return ports_; }
    Ends ends(std::uint32_t group, std::uint32_t other, std::uint32_t link) const {
        return {port(group, other, link) / ports_, port(other, group, link) / ports_};
    }
    // Every pair of switches with links between two groups, and how many: in order of the first, then the second.
    struct Joined {
        Ends ends;
        std::uint32_t lanes = 0;
    };
    std::vector<Joined> joined(std::uint32_t group, std::uint32_t other) const;

  private:
    std::uint32_t port(std::uint32_t group, std::uint32_t other, std::uint32_t link) const {
        return (other < group ? other : other - 1) + link * (groups_ - 1);
    }
    std::uint32_t groups_, per_pair_, ports_;
};

// A group that is neither of two, by number: a draw in [0, groups - 2) becomes one of the others.
inline std::uint32_t third_group(std::uint32_t draw, std::uint32_t a, std::uint32_t b) {
    auto const low = a < b ? a : b, high = a < b ? b : a;
    auto group = draw;
    if (group >= low) ++group;
    if (group >= high) ++group;
    return group;
}

}  // namespace orrery
