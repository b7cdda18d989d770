// SPDX-License-Identifier: Apache-2.0
// Indices that cannot be mixed: Id<struct Link_> is not an Id<struct Flow_>.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace orrery {

template <class Tag>
class Id {
  public:
    constexpr Id() = default;  // invalid until assigned
    explicit constexpr Id(std::uint32_t value) : value_(value) {}
    constexpr bool valid() const { return value_ != std::numeric_limits<std::uint32_t>::max(); }
    constexpr std::uint32_t value() const { return value_; }
    constexpr std::size_t index() const { return value_; }
    friend constexpr std::strong_ordering operator<=>(Id, Id) = default;

  private:
    std::uint32_t value_ = std::numeric_limits<std::uint32_t>::max();
};

using LpId = Id<struct Lp_>;          // logical process: smallest unit that owns state
using RankId = Id<struct Rank_>;      // simulated rank: one NPU die or GPU
using NodeId = Id<struct Node_>;      // a vertex of the fabric: endpoint or switch
using LinkId = Id<struct Link_>;      // one physical directed link
using BundleId = Id<struct Bundle_>;  // parallel links that a striped transfer uses together
using DomainId = Id<struct Domain_>;  // links whose shares must be solved jointly: one connected plane
using GroupId = Id<struct Group_>;    // an expert-parallel (or other) group of ranks

}  // namespace orrery
