// SPDX-License-Identifier: Apache-2.0
// In-switch reduction: the switch adds up what it reads from all members, and copies what it writes to all of them.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// As NVIDIA's NVLS (multimem.ld_reduce and multimem.st; Klenk et al., ISCA 2020, describe the principle). Reducing,
// member b asks for its block: every member's copy goes up to the switch and one sum comes down to b. Gathering, b's
// block goes up once and comes down to every member. So a port carries S up and S/n down, then S/n up and S down.
class InSwitch final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override {
        if (n_ == 1) return 0;
        return shape().op == CollectiveOp::all_reduce ? 2 : 1;
    }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const next = after(member, 1);
        if (gathers(step)) {
            out.message(next, split_.size(member), Way::to_switch);
            for (std::uint32_t distance = 1; distance < n_; ++distance) {
                out.message(after(member, distance), split_.size(member), Way::from_switch);
                out.piece(member, 1, Combine::copy);
            }
            // The copy that its neighbour's block's owner gets back of its own.
            out.message(next, split_.size(next), Way::from_switch);
            return;
        }
        out.message(next, split_.size(member), Way::to_switch);  // its own part of its own block
        for (std::uint32_t distance = 1; distance < n_; ++distance) {
            auto const peer = after(member, distance);
            out.message(peer, split_.size(peer), Way::to_switch);
            out.piece(peer, 1, Combine::reduce);
        }
        out.message(next, split_.size(next), Way::from_switch);  // the sum
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return n_ + 1; }

    ClosedForm closed_form() const override {
        ClosedForm form{.text = steps() == 2 ? "2 a + 2 S/B" : "a + S/B"};
        form.holds = if_even();
        form.add_steps(steps(), n_, split_.largest());
        return form;
    }

  private:
    bool gathers(std::uint32_t step) const { return shape().op == CollectiveOp::all_gather || step == 1; }
};

CollectiveRegistration const in_switch({.name = "in_switch",
                                        .nccl = "NVLS",
                                        .hccl = "",
                                        .source = "Klenk et al., ISCA 2020; NVIDIA, NVLink SHARP",
                                        .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                                CollectiveOp::all_gather},
                                        .refuses =
                                            [](CollectiveShape const& shape) {
                                                return shape.levels.empty() || shape.levels.front().size() <= 1
                                                           ? std::string{}
                                                           : std::string{"all members must be below one switch"};
                                            },
                                        .plan = make_plan<InSwitch>});

}  // namespace
}  // namespace orrery
