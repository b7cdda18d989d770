// SPDX-License-Identifier: Apache-2.0
// A layer workload as a schedule by rule: all ranks do the same, each in its own groups.
#pragma once

#include "workloads/imports/layer_groups.hpp"
#include "workloads/schedule/schedule.hpp"

#include <map>
#include <string>
#include <vector>

namespace orrery {

// One collective that every rank takes part in, each in its own group of a kind.
struct LayerSlot {
    CollectiveOp op{};
    LayerGroup group{};
    std::int64_t bytes = 0;
    std::string algorithm;
};

// What one rank does; a collective's peer is the number of its slot.
struct LayerProgram {
    RankProgram program;
    std::vector<LayerSlot> slots;
    std::vector<std::string> labels;
};

class LayerSchedule final : public Schedule {
  public:
    LayerSchedule(LayerProgram program, LayerGroups groups, std::uint32_t ranks);

    std::uint32_t ranks() const override { return ranks_; }
    RankProgram program(std::uint32_t rank) const override;
    std::uint32_t group_count() const override { return first_group_.back(); }
    std::span<std::uint32_t const> group(std::uint32_t number) const override;
    std::uint32_t collective_count() const override { return first_collective_.back(); }
    CollectiveSpec collective(std::uint32_t number) const override;
    std::span<std::string const> labels() const override { return program_.labels; }

  private:
    RankGroups const& groups_of(LayerGroup kind) const { return groups_[static_cast<std::size_t>(kind)]; }

    LayerProgram program_;
    LayerGroups groups_;
    std::uint32_t ranks_;
    std::vector<std::uint32_t> first_group_;       // per kind; one more at the end
    std::vector<std::uint32_t> first_collective_;  // per slot, one for each of its groups; one more at the end
};

// What the size of an all-gather counts: all that is collected, or what one member gives.
enum class GatherSize : std::uint8_t { of_all, of_one };
struct LayerRules {
    std::uint32_t passes = 1;
    GatherSize gather{};
    std::map<CollectiveOp, std::string> algorithms;
};
// Carries out the policy of the file once per pass. Collectives of one member are left out.
LayerProgram layer_program(LayerFile const& file, LayerGroups const& groups, LayerRules const& rules,
                           Findings& findings);

}  // namespace orrery
