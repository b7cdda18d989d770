// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling: log2(n) exchanges with partners at halving, then doubling distances.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Thakur, Rabenseifner & Gropp (IJHPCA 19, 2005). Of n members, the p = 2^floor(log2 n) active ones do it; before, each
// of the n - p others adds its data to an active neighbour's, and gets the result from it at the end (the fold).
class HalvingDoubling final : public CollectivePlan {
  public:
    explicit HalvingDoubling(CollectiveShape const& shape)
        : CollectivePlan(shape),
          n_(shape.members),
          p_(std::bit_floor(n_)),
          levels_(ceil_log2(p_)),
          fold_(n_ > p_ ? 1 : 0),
          split_(shape.bytes, p_) {}

    std::uint32_t steps() const override { return halvings() + doublings() + 2 * fold_; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const me = active(member);
        if (fold_ > 0 && (step == 0 || step + 1 == steps())) {
            if (!folded(member) || (step == 0) != (me == no_member)) return;
            out.message(member ^ 1, shape().bytes);
            out.piece(0, p_, step == 0 ? Combine::reduce : Combine::copy);
            return;
        }
        if (me == no_member) return;
        step -= fold_;
        bool const halving = step < halvings();
        auto const level = halving ? levels_ - 1 - step : step - halvings();  // the partner is 2^level away
        auto const partner = me ^ 1U << level;
        auto const first = (halving ? partner : me) >> level << level;
        auto const count = 1U << level;
        out.message(member_of(partner), split_.range(first, count));
        out.piece(first, count, halving ? Combine::reduce : Combine::copy);
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        bool const idle = active(member) == no_member;
        if (fold_ > 0 && (step == 0 || step + 1 == steps())) return folded(member) && (step == 0) != idle ? 1 : 0;
        return idle ? 0 : 1;
    }

    std::uint64_t blocks() const override { return p_; }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = split_.even() ? ClosedForm::Holds::exactly : ClosedForm::Holds::at_most,
                        .text = fold_ > 0 ? "2 (a + S/B) + 2 log2(p) a + 2 (p-1)/p S/B, p = 2^floor(log2 n)"
                                : shape().op == CollectiveOp::all_reduce ? "2 log2(n) a + 2 (n-1)/n S/B"
                                                                         : "log2(n) a + (n-1)/n S/B"};
        form.add_steps(2 * fold_, 1, shape().bytes);
        for (std::uint32_t level = 0; level < levels_; ++level)
            form.add_steps((halvings() > 0 ? 1 : 0) + (doublings() > 0 ? 1 : 0), 1, split_.range(0, 1ULL << level));
        return form;
    }

  private:
    std::uint32_t halvings() const { return shape().op == CollectiveOp::all_gather ? 0 : levels_; }
    std::uint32_t doublings() const { return shape().op == CollectiveOp::reduce_scatter ? 0 : levels_; }
    // The first 2 (n-p) members fold in pairs; the odd one of a pair is active.
    bool folded(std::uint32_t member) const { return member < 2 * (n_ - p_); }
    std::uint32_t active(std::uint32_t member) const {
        if (!folded(member)) return member - (n_ - p_);
        return member % 2 == 1 ? member / 2 : no_member;
    }
    std::uint32_t member_of(std::uint32_t active) const {
        return active < n_ - p_ ? 2 * active + 1 : active + (n_ - p_);
    }

    std::uint32_t n_, p_, levels_, fold_;
    EvenSplit split_;
};

CollectiveRegistration const halving_doubling(
    {.name = "halving_doubling",
     .nccl = "",
     .hccl = "H-D_R",
     .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19 (2005)",
     .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather},
     .refuses =
         [](CollectiveShape const& shape) {
             return shape.op == CollectiveOp::all_reduce || std::has_single_bit(shape.members)
                        ? std::string{}
                        : std::string{"it needs a power of two: the fold is for all-reduce"};
         },
     .plan = make_plan<HalvingDoubling>});

}  // namespace
}  // namespace orrery
