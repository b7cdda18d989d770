// SPDX-License-Identifier: Apache-2.0
// Ring: every member sends to the next one only. The bandwidth-optimal classic.
#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/blocks.hpp"

namespace orrery {
namespace {

// Patarasuk & Yuan (JPDC 69, 2009): the data is cut into n blocks; in every step a member passes one on. Block b starts
// at member b+1, is added up over n-1 steps until it is whole at member b, and then travels round once more.
class Ring final : public CollectivePlan {
  public:
    explicit Ring(CollectiveShape const& shape) : CollectivePlan(shape), n_(shape.members), split_(shape.bytes, n_) {}

    std::uint32_t steps() const override { return shape().op == CollectiveOp::all_reduce ? 2 * (n_ - 1) : n_ - 1; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        bool const reduces = shape().op != CollectiveOp::all_gather && step < n_ - 1;
        // A block that is being added up is at member b+1 in step 0; one that is handed out starts at member b.
        auto const travelled = shape().op == CollectiveOp::all_gather ? step : step + 1;
        auto const block = (member + 2 * n_ - travelled) % n_;
        out.message((member + 1) % n_, split_.size(block));
        out.piece(block, 1, reduces ? Combine::reduce : Combine::copy);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    std::uint64_t blocks() const override { return n_; }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

    ClosedForm closed_form() const override {
        ClosedForm form{.text =
                            shape().op == CollectiveOp::all_reduce ? "2 (n-1) (a + S/n / B)" : "(n-1) (a + S/n / B)"};
        form.add_steps(steps(), 1, split_.largest());
        return form;
    }

  private:
    std::uint32_t n_;
    EvenSplit split_;
};

CollectiveRegistration const ring({.name = "ring",
                                   .nccl = "Ring",
                                   .hccl = "Ring",
                                   .source = "Patarasuk & Yuan, JPDC 69 (2009)",
                                   .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                           CollectiveOp::all_gather},
                                   .refuses = [](CollectiveShape const&) { return std::string{}; },
                                   .plan = [](CollectiveShape const& shape) -> std::unique_ptr<CollectivePlan> {
                                       return std::make_unique<Ring>(shape);
                                   }});

}  // namespace
}  // namespace orrery
