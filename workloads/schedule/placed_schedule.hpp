// SPDX-License-Identifier: Apache-2.0
// Several schedules on one fabric, each on ranks of its own, as one schedule.
#pragma once

#include "core/ids.hpp"
#include "workloads/schedule/schedule.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

// Its ranks are numbered in the order of their fabric ranks, so that rows of one instant come in the order of ranks.
class PlacedSchedule final : public Schedule {
  public:
    struct Part {
        std::unique_ptr<Schedule> schedule;
        std::string name;           // for messages
        std::vector<RankId> place;  // fabric rank of each of its ranks
    };
    // Throws InputError when two ranks are placed on one fabric rank.
    explicit PlacedSchedule(std::vector<Part> parts);

    std::span<RankId const> place() const { return place_; }
    std::vector<Part> const& parts() const { return parts_; }

    std::uint32_t ranks() const override { return static_cast<std::uint32_t>(place_.size()); }
    RankProgram program(std::uint32_t rank) const override;
    std::uint32_t group_count() const override { return static_cast<std::uint32_t>(groups_.size()); }
    std::span<std::uint32_t const> group(std::uint32_t number) const override { return groups_[number]; }
    std::uint32_t collective_count() const override { return static_cast<std::uint32_t>(collectives_.size()); }
    CollectiveSpec collective(std::uint32_t number) const override { return collectives_[number]; }
    CollectiveSpec const& held_collective(std::uint32_t number) const { return collectives_[number]; }
    std::span<std::string const> labels() const override { return labels_; }

  private:
    struct Origin {
        std::uint32_t part = 0, rank = 0;
    };
    struct Offsets {
        std::uint32_t collectives = 0, labels = 0;
    };
    std::vector<Part> parts_;
    std::vector<RankId> place_;                       // by number here
    std::vector<Origin> origin_;                      // likewise
    std::vector<std::vector<std::uint32_t>> number_;  // by part and its rank
    std::vector<Offsets> offsets_;                    // by part
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<CollectiveSpec> collectives_;
    std::vector<std::string> labels_;
};

}  // namespace orrery
