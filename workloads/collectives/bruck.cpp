// SPDX-License-Identifier: Apache-2.0
// Bruck: ceil(log2 n) steps for any number of members, each between members 2^k apart.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Bruck et al. (IEEE TPDS 8, 1997), which HCCL calls NB. All-gather: in step k member m sends the blocks
// [m, m + min(2^k, n - 2^k)) to m - 2^k. Reduce-scatter is the reverse, all-reduce the two one after the other.
class Bruck final : public SplitPlan {
  public:
    explicit Bruck(CollectiveShape const& shape) : SplitPlan(shape), levels_(ceil_log2(n_)) {}

    std::uint32_t steps() const override { return gathering_from() + (gathers() ? levels_ : 0); }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        bool const gathering = step >= gathering_from();
        auto const level = gathering ? step - gathering_from() : levels_ - 1 - step;
        auto const peer = gathering ? before(member, 1U << level) : after(member, 1U << level);
        auto const first = gathering ? member : peer;
        auto const count = blocks_of(level);
        auto const straight = std::min(count, n_ - first);
        out.message(peer, split_.range(first, straight) + split_.range(0, count - straight));
        out.piece(first, straight, gathering ? Combine::copy : Combine::reduce);
        out.piece(0, count - straight, gathering ? Combine::copy : Combine::reduce);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    ClosedForm closed_form() const override {
        bool const twice = shape().op == CollectiveOp::all_reduce;
        ClosedForm form{.holds = if_even(),
                        .text = twice ? "2 ceil(log2 n) a + 2 (n-1)/n S/B" : "ceil(log2 n) a + (n-1)/n S/B"};
        for (std::uint32_t level = 0; level < levels_; ++level)
            form.add_steps(twice ? 2 : 1, 1, split_.range(0, blocks_of(level)));
        return form;
    }

  private:
    bool gathers() const { return shape().op != CollectiveOp::reduce_scatter; }
    std::uint32_t gathering_from() const { return shape().op == CollectiveOp::all_gather ? 0 : levels_; }
    std::uint32_t blocks_of(std::uint32_t level) const { return std::min(1U << level, n_ - (1U << level)); }

    std::uint32_t levels_;
};

// The index algorithm of the same paper, for small messages: what must go distance d goes the powers of two in d, one
// per step. Block s * n + t is what s has for t.
class BruckAllToAll final : public SplitPlan {
  public:
    explicit BruckAllToAll(CollectiveShape const& shape) : SplitPlan(shape), levels_(ceil_log2(n_)) {}

    std::uint32_t steps() const override { return levels_; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        std::int64_t bytes = split_.size(0) * blocks_of(step);
        if (!split_.even()) {
            bytes = 0;
            for_each_block(member, step, [&](std::uint32_t, std::uint32_t target) { bytes += split_.size(target); });
        }
        out.message(after(member, 1U << step), bytes);
        if (!out.keeps_pieces()) return;
        for_each_block(member, step, [&](std::uint32_t source, std::uint32_t target) {
            out.piece(std::uint64_t{source} * n_ + target, 1, Combine::copy);
        });
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    std::uint64_t blocks() const override { return std::uint64_t{n_} * n_; }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block % n_); }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = if_even(), .text = "ceil(log2 n) a + sum_k |{d < n: bit k of d}| S/n / B"};
        for (std::uint32_t level = 0; level < levels_; ++level)
            form.add_steps(1, 1, split_.largest() * blocks_of(level));
        return form;
    }

  private:
    // Distances below n with this bit.
    std::int64_t blocks_of(std::uint32_t level) const {
        auto const half = 1U << level;
        auto const rest = n_ % (2 * half);
        return n_ / (2 * half) * half + (rest > half ? rest - half : 0);
    }
    template <class Visit>
    void for_each_block(std::uint32_t member, std::uint32_t level, Visit const& visit) const {
        auto const bit = 1U << level;
        for (std::uint32_t distance = bit; distance < n_; ++distance) {
            if ((distance & bit) == 0) continue;
            auto const source = before(member, distance & (bit - 1));
            visit(source, after(source, distance));
        }
    }

    std::uint32_t levels_;
};

std::unique_ptr<CollectivePlan> plan_bruck(CollectiveShape const& shape) {
    if (shape.op == CollectiveOp::all_to_all) return std::make_unique<BruckAllToAll>(shape);
    return std::make_unique<Bruck>(shape);
}

CollectiveRegistration const bruck({.name = "bruck",
                                    .nccl = "PAT",
                                    .hccl = "NB",
                                    .source = "Bruck et al., IEEE TPDS 8 (1997)",
                                    .ops = {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                                            CollectiveOp::all_reduce, CollectiveOp::all_to_all},
                                    .refuses = accept_all,
                                    .plan = plan_bruck});

}  // namespace
}  // namespace orrery
