// SPDX-License-Identifier: Apache-2.0
// Ring: every member sends to the next one only. The bandwidth-optimal classic.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Patarasuk & Yuan (JPDC 69, 2009): the data is cut into n blocks; in every step a member passes one on. Block b starts
// at member b+1, is added up over n-1 steps until it is whole at member b, and then travels round once more.
class Ring final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override { return shape().op == CollectiveOp::all_reduce ? 2 * (n_ - 1) : n_ - 1; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        bool const reduces = shape().op != CollectiveOp::all_gather && step < n_ - 1;
        // A block that is being added up is at member b+1 in step 0; one that is handed out starts at member b.
        auto const block = before(member, shape().op == CollectiveOp::all_gather ? step : step + 1);
        out.message(after(member, 1), split_.size(block));
        out.piece(block, 1, reduces ? Combine::reduce : Combine::copy);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    ClosedForm closed_form() const override {
        ClosedForm form{.text =
                            shape().op == CollectiveOp::all_reduce ? "2 (n-1) (a + S/n / B)" : "(n-1) (a + S/n / B)"};
        form.add_steps(steps(), 1, split_.largest());
        return form;
    }
};

// The same ring for data that stays whole: from the root to its last neighbour, or the other way round and added up.
class Chain final : public RootedPlan {
  public:
    using RootedPlan::RootedPlan;

    std::uint32_t steps() const override { return n_ - 1; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        if (sends_in(member) != step) return;
        out.message((member + 1) % n_, shape().bytes);
        out.piece(0, 1, reduces() ? Combine::reduce : Combine::copy);
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        return step + 1 == sends_in(member) ? 1 : 0;
    }
    std::uint32_t next_step(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        auto const send = sends_in(member);  // it receives in the step before
        if (step + 1 < send) return send - 1;
        return step <= send && step < n_ - 1 ? step : n_ - 1;
    }

    ClosedForm closed_form() const override { return pipelined_form(1); }
    ClosedForm pipelined_form(std::uint32_t chunks) const override {
        ClosedForm form{.text = chunks == 1 ? "(n-1) (a + S / B)" : "(n-2+c) (a + S/c / B)"};
        if (n_ > 1) form.add_steps(n_ - 2 + chunks, 1, shape().bytes);
        return form;
    }

  private:
    bool reduces() const { return shape().op == CollectiveOp::reduce; }
    // n-1: it never sends. Members of a reduction are numbered so that the root comes last.
    std::uint32_t sends_in(std::uint32_t member) const {
        return reduces() ? (turned(member) + n_ - 1) % n_ : turned(member);
    }
};

std::unique_ptr<CollectivePlan> ring_or_chain(CollectiveShape const& shape) {
    if (shape.op == CollectiveOp::broadcast || shape.op == CollectiveOp::reduce) return std::make_unique<Chain>(shape);
    return std::make_unique<Ring>(shape);
}

CollectiveRegistration const ring({.name = "ring",
                                   .nccl = "Ring",
                                   .hccl = "Ring",
                                   .source = "Patarasuk & Yuan, JPDC 69 (2009)",
                                   .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                           CollectiveOp::all_gather, CollectiveOp::broadcast, CollectiveOp::reduce},
                                   .refuses = accept_all,
                                   .plan = ring_or_chain});

}  // namespace
}  // namespace orrery
