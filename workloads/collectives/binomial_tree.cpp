// SPDX-License-Identifier: Apache-2.0
// Binomial tree: in every step those who have the data pass it on, so that their number doubles.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Members are numbered from the root on. In the d-th step down, member v with v % 2^(L-d) == 0 sends to v + 2^(L-d-1),
// L = ceil(log2 n); the way up is the same in reverse. All-reduce and barrier go up, then down. What passes is all data
// (broadcast, reduce, all-reduce), or that of the receiver's subtree (scatter) or the sender's (gather).
class BinomialTree final : public CollectivePlan {
  public:
    explicit BinomialTree(CollectiveShape const& shape)
        : CollectivePlan(shape),
          n_(shape.members),
          levels_(ceil_log2(n_)),
          split_(barrier() ? 0 : shape.bytes, parted() ? n_ : 1) {}

    std::uint32_t steps() const override { return ups() + downs(); }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const v = turned(member);
        bool const up = step < ups();
        auto const level = up ? step : levels_ - 1 - (step - ups());
        auto const distance = 1U << level;
        if (v % distance != 0 || ((v / distance) % 2 == 1) != up || (!up && v + distance >= n_)) return;
        auto const peer = up ? v - distance : v + distance;
        auto const below = up ? v : peer;  // the one of the two that is farther from the root
        auto const count = parted() ? std::min(distance, n_ - below) : 1;
        // Turned numbers [below, below + count) may pass the last member and go on at the first.
        auto const first = parted() ? this->member(below) : 0;
        auto const straight = parted() ? std::min(count, n_ - first) : count;
        out.message(this->member(peer), split_.range(first, straight) + split_.range(0, count - straight));
        auto const combine = up && !parted() ? Combine::reduce : Combine::copy;
        out.piece(first, straight, combine);
        out.piece(0, count - straight, combine);
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        auto const v = turned(member);
        bool const up = step < ups();
        auto const distance = 1U << (up ? step : levels_ - 1 - (step - ups()));
        if (v % distance != 0 || ((v / distance) % 2 == 1) == up) return 0;
        return up && v + distance >= n_ ? 0 : 1;
    }

    std::uint64_t blocks() const override { return split_.parts(); }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

    ClosedForm closed_form() const override {
        bool const exact = (ups() == 0 || std::has_single_bit(n_)) && split_.even();
        ClosedForm form{.holds = exact ? ClosedForm::Holds::exactly : ClosedForm::Holds::at_most,
                        .text = barrier()                  ? "2 ceil(log2 n) a"
                                : parted()                 ? "ceil(log2 n) a + (n-1)/n S/B"
                                : ups() > 0 && downs() > 0 ? "2 ceil(log2 n) (a + S/B)"
                                                           : "ceil(log2 n) (a + S/B)"};
        for (std::uint32_t level = 0; level < levels_; ++level) {
            auto const distance = 1U << level;
            auto const bytes = parted() ? split_.range(0, std::min(distance, n_ - distance)) : split_.largest();
            form.add_steps((ups() > 0 ? 1 : 0) + (downs() > 0 ? 1 : 0), 1, bytes);
        }
        return form;
    }

  private:
    bool barrier() const { return shape().op == CollectiveOp::barrier; }
    bool parted() const { return shape().op == CollectiveOp::gather || shape().op == CollectiveOp::scatter; }
    std::uint32_t ups() const {
        return shape().op == CollectiveOp::broadcast || shape().op == CollectiveOp::scatter ? 0 : levels_;
    }
    std::uint32_t downs() const {
        return shape().op == CollectiveOp::reduce || shape().op == CollectiveOp::gather ? 0 : levels_;
    }
    std::uint32_t turned(std::uint32_t member) const { return (member + n_ - shape().root) % n_; }
    std::uint32_t member(std::uint32_t turned) const { return (turned + shape().root) % n_; }

    std::uint32_t n_, levels_;
    EvenSplit split_;
};

CollectiveRegistration const binomial_tree({.name = "binomial_tree",
                                            .nccl = "",
                                            .hccl = "Star/binomial",
                                            .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19 (2005)",
                                            .ops = {CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::gather,
                                                    CollectiveOp::scatter, CollectiveOp::all_reduce,
                                                    CollectiveOp::barrier},
                                            .refuses = accept_all,
                                            .plan = make_plan<BinomialTree>});

}  // namespace
}  // namespace orrery
