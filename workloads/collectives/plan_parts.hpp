// SPDX-License-Identifier: Apache-2.0
// What the files of single algorithms have in common.
#pragma once

#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/blocks.hpp"

#include <bit>
#include <memory>
#include <string>
#include <utility>

namespace orrery {

inline constexpr std::uint32_t no_member = 0xffffffff;

inline std::uint32_t ceil_log2(std::uint32_t n) {
    return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

// Data in one even part per member.
class SplitPlan : public CollectivePlan {
  public:
    explicit SplitPlan(CollectiveShape const& shape)
        : CollectivePlan(shape), n_(shape.members), split_(shape.bytes, shape.members) {}

    std::uint64_t blocks() const override { return n_; }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

  protected:
    // Of forms in which every message of a step must be of one size.
    ClosedForm::Holds if_even() const {
        return split_.even() ? ClosedForm::Holds::exactly : ClosedForm::Holds::at_most;
    }
    std::uint32_t after(std::uint32_t member, std::uint32_t distance) const { return (member + distance) % n_; }
    std::uint32_t before(std::uint32_t member, std::uint32_t distance) const {
        return (member + n_ - distance % n_) % n_;
    }

    std::uint32_t n_;
    EvenSplit split_;
};

// Data that stays whole, seen from a root: members are numbered from it on, "turned".
class RootedPlan : public CollectivePlan {
  public:
    explicit RootedPlan(CollectiveShape const& shape) : CollectivePlan(shape), n_(shape.members) {}

    std::uint64_t blocks() const override { return 1; }
    std::int64_t block_bytes(std::uint64_t) const override { return shape().bytes; }

  protected:
    std::uint32_t turned(std::uint32_t member) const { return (member + n_ - shape().root) % n_; }
    std::uint32_t member(std::uint32_t turned) const { return (turned + shape().root) % n_; }

    std::uint32_t n_;
};

inline std::string accept_all(CollectiveShape const&) {
    return {};
}

template <class Plan>
std::unique_ptr<CollectivePlan> make_plan(CollectiveShape const& shape) {
    return std::make_unique<Plan>(shape);
}

}  // namespace orrery
