// SPDX-License-Identifier: Apache-2.0
// Double ring: half of the data goes round one way, half the other.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// Two rings (see ring.cpp) side by side, a lane each. On a fabric with a link each way both have the full rate, and it
// takes half as long; through one port they share it. Block b of lane l is number 2 b + l.
class DoubleRing final : public CollectivePlan {
  public:
    explicit DoubleRing(CollectiveShape const& shape)
        : CollectivePlan(shape), n_(shape.members), split_(shape.bytes, 2 * std::uint64_t{n_}) {}

    std::uint32_t lanes() const override { return 2; }
    std::uint32_t steps() const override { return shape().op == CollectiveOp::all_reduce ? 2 * (n_ - 1) : n_ - 1; }

    void sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const override {
        bool const reduces = shape().op != CollectiveOp::all_gather && step < n_ - 1;
        auto const travelled = shape().op == CollectiveOp::all_gather ? step : step + 1;
        auto const back = (member + 2 * n_ - travelled) % n_, ahead = (member + travelled) % n_;
        auto const block = 2 * std::uint64_t{lane == 0 ? back : ahead} + lane;
        out.message((member + (lane == 0 ? 1 : n_ - 1)) % n_, split_.size(block));
        out.piece(block, 1, reduces ? Combine::reduce : Combine::copy);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    std::uint64_t blocks() const override { return split_.parts(); }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = ClosedForm::Holds::at_most,
                        .text = shape().op == CollectiveOp::all_reduce
                                    ? "2 (n-1) (a + S/2n / B) with a link each way, S/n for S/2n through one port"
                                    : "(n-1) (a + S/2n / B) with a link each way, S/n for S/2n through one port"};
        form.add_steps(steps(), 2, split_.largest());
        return form;
    }

  private:
    std::uint32_t n_;
    EvenSplit split_;
};

CollectiveRegistration const double_ring(
    {.name = "double_ring",
     .nccl = "",
     .hccl = "Double Ring",
     .source = "Patarasuk & Yuan, JPDC 69 (2009), twice; as HCCL's double ring and ASTRA-sim's bidirectional ring",
     .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather},
     .refuses = accept_all,
     .plan = make_plan<DoubleRing>});

}  // namespace
}  // namespace orrery
