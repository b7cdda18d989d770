// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange: n-1 steps, in each of which every member sends to one other and receives from one.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Thakur, Rabenseifner & Gropp (IJHPCA 19, 2005): in step k member m sends to m + k + 1 and receives from m - k - 1.
// Block s * n + t is what s has for t; of reduce-scatter, block b is member b's part.
class Pairwise final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override { return n_ - 1; }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const peer = after(member, step + 1);
        auto const bytes = pair_bytes(member, peer);
        if (bytes == 0 && shape().pair_bytes) return;
        out.message(peer, bytes);
        if (reduces())
            out.piece(peer, 1, Combine::reduce);
        else
            out.piece(std::uint64_t{member} * n_ + peer, 1, Combine::copy);
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        return shape().pair_bytes && pair_bytes(before(member, step + 1), member) == 0 ? 0 : 1;
    }
    std::uint64_t blocks() const override { return reduces() ? n_ : std::uint64_t{n_} * n_; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        if (reduces()) return split_.size(block);
        return pair_bytes(static_cast<std::uint32_t>(block / n_), static_cast<std::uint32_t>(block % n_));
    }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = if_even(), .text = "(n-1) (a + S/n / B)"};
        if (!shape().pair_bytes) {
            form.add_steps(steps(), 1, split_.largest());
            return form;
        }
        form.holds = ClosedForm::Holds::at_most;
        form.text = "sum over steps of (a + (largest message) / B)";
        for (std::uint32_t step = 0; step < steps(); ++step) {
            std::int64_t largest = 0;
            for (std::uint32_t member = 0; member < n_; ++member)
                largest = std::max(largest, pair_bytes(member, after(member, step + 1)));
            form.add_steps(1, 1, largest);
        }
        return form;
    }

  private:
    bool reduces() const { return shape().op == CollectiveOp::reduce_scatter; }
    std::int64_t pair_bytes(std::uint32_t source, std::uint32_t target) const {
        return shape().pair_bytes ? shape().pair_bytes->bytes(source, target) : split_.size(target);
    }
};

CollectiveRegistration const pairwise({.name = "pairwise",
                                       .nccl = "",
                                       .hccl = "Pairwise",
                                       .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19 (2005)",
                                       .ops = {CollectiveOp::all_to_all, CollectiveOp::all_to_all_v,
                                               CollectiveOp::reduce_scatter},
                                       .refuses = accept_all,
                                       .plan = make_plan<Pairwise>});

}  // namespace
}  // namespace orrery
