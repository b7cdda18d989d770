// SPDX-License-Identifier: Apache-2.0
// Pipelining: any algorithm, with its data in chunks that follow each other through its steps.
#pragma once

#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/blocks.hpp"

#include <memory>

namespace orrery {

// Lane (chunk c, inner lane l) is number c * inner lanes + l and follows the same inner lane of the chunk before. Block
// b of chunk c is number b * chunks + c.
class ChunkedPlan final : public CollectivePlan {
  public:
    ChunkedPlan(CollectiveAlgorithm const& algorithm, CollectiveShape const& shape);

    std::uint32_t lanes() const override { return shape().chunks * inner_lanes(); }
    std::uint32_t follows() const override { return inner_lanes(); }
    std::uint32_t steps() const override { return large_->steps(); }
    void sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const override;
    std::uint32_t receives(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const override {
        return large_->receives(member, lane % inner_lanes(), step);
    }
    std::uint32_t next_step(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const override {
        return large_->next_step(member, lane % inner_lanes(), step);
    }
    std::uint64_t blocks() const override { return large_->blocks() * shape().chunks; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        return inner(static_cast<std::uint32_t>(block % shape().chunks)).block_bytes(block / shape().chunks);
    }
    ClosedForm closed_form() const override;

  private:
    std::uint32_t inner_lanes() const { return large_->lanes(); }
    CollectivePlan const& inner(std::uint32_t chunk) const {
        return split_.size(chunk) == split_.largest() ? *large_ : *small_;
    }

    EvenSplit split_;
    std::unique_ptr<CollectivePlan> large_, small_;  // of the first chunks, and of those a byte smaller
};

}  // namespace orrery
