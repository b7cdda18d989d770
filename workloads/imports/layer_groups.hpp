// SPDX-License-Identifier: Apache-2.0
// Which ranks form the groups of a layer workload.
#pragma once

#include "workloads/imports/layer_file.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

// The groups of one kind: every rank is in exactly one.
class RankGroups {
  public:
    // Begins a group, whose members follow in order.
    void open() { groups_.emplace_back(); }
    void add(std::uint32_t rank) {
        if (group_of_.size() <= rank) group_of_.resize(rank + 1, 0);
        group_of_[rank] = static_cast<std::uint32_t>(groups_.size() - 1);
        groups_.back().push_back(rank);
    }
    std::uint32_t count() const { return static_cast<std::uint32_t>(groups_.size()); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.front().size()); }
    std::uint32_t of(std::uint32_t rank) const { return group_of_[rank]; }
    std::vector<std::uint32_t> const& members(std::uint32_t group) const { return groups_[group]; }

  private:
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::uint32_t> group_of_;
};

struct ParallelSizes {
    std::uint32_t ranks = 1, tensor = 1, data = 1, pipeline = 1, expert = 1;
};

using LayerGroups = std::array<RankGroups, layer_group_count>;

// As SimAI's MockNcclGroup makes them. Ranks are dp * (pp * tp) + pp * tp + tp index: TP groups are consecutive ranks,
// DP groups ranks at the distance of all TP and PP ranks. An EP group is the ranks of one TP index in EP consecutive TP
// groups, a DP_EP group those that hold the same experts: every EP-th TP group of a block of DP groups. SimAI makes no
// EP groups where TP is 1, and overlapping DP_EP groups where PP is not; here both are as the rule says.
LayerGroups layer_groups(ParallelSizes const& sizes);

}  // namespace orrery
