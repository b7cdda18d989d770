// SPDX-License-Identifier: Apache-2.0
// Dissemination: the barrier in ceil(log2 n) steps.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Hensgen, Finkel & Manber (Int. J. Parallel Programming 17, 1988): in step k every member signals the one 2^k after
// it; then each has heard of all. Messages are empty: only their latency counts.
class Dissemination final : public SplitPlan {
  public:
    explicit Dissemination(CollectiveShape shape) : SplitPlan(empty(std::move(shape))) {}

    std::uint32_t steps() const override { return ceil_log2(n_); }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        out.message(after(member, 1U << step), 0);
        out.piece(0, 1, Combine::reduce);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }
    std::uint64_t blocks() const override { return 1; }

    ClosedForm closed_form() const override {
        ClosedForm form{.text = "ceil(log2 n) a"};
        form.add_steps(steps(), 1, 0);
        return form;
    }

  private:
    static CollectiveShape empty(CollectiveShape shape) {
        shape.bytes = 0;
        return shape;
    }
};

CollectiveRegistration const dissemination(
    {.name = "dissemination",
     .nccl = "",
     .hccl = "",
     .source = "Hensgen, Finkel & Manber, Int. J. Parallel Programming 17 (1988)",
     .ops = {CollectiveOp::barrier},
     .refuses = accept_all,
     .plan = make_plan<Dissemination>});

}  // namespace
}  // namespace orrery
