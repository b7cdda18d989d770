// SPDX-License-Identifier: Apache-2.0
// NHR, the nonuniform hierarchical ring: rings at doubling distances, for any number of members.
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// HCCL's NHR. Block b is at distance d = (m - b) mod n from member m. In the k-th step of reduce-scatter every member
// sends what it holds at distances d = 2^k mod 2^(k+1) to member m - 2^k, where they are 2^k nearer; all-gather is the
// same in reverse. Neighbours exchange most, far members least.
class Nhr final : public SplitPlan {
  public:
    explicit Nhr(CollectiveShape const& shape) : SplitPlan(shape), levels_(ceil_log2(n_)) {}

    std::uint32_t steps() const override { return gathering_from() + (gathers() ? levels_ : 0); }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        bool const gathering = step >= gathering_from();
        auto const level = gathering ? levels_ - 1 - (step - gathering_from()) : step;
        auto const distance = 1U << level;
        auto const peer = gathering ? after(member, distance) : before(member, distance);
        auto const nearer = gathering ? member : peer;  // of the two, to the blocks
        auto const count = blocks_of(level);
        std::int64_t bytes = split_.size(0) * count;
        if (!split_.even() || out.keeps_pieces()) {
            bytes = 0;
            for (std::uint32_t i = 0; i < count; ++i) bytes += split_.size(before(nearer, i * 2 * distance));
        }
        out.message(peer, bytes);
        if (!out.keeps_pieces()) return;
        for (std::uint32_t i = 0; i < count; ++i)
            out.piece(before(nearer, i * 2 * distance), 1, gathering ? Combine::copy : Combine::reduce);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }

    ClosedForm closed_form() const override {
        bool const twice = shape().op == CollectiveOp::all_reduce;
        ClosedForm form{.holds = if_even(),
                        .text = twice ? "2 ceil(log2 n) a + 2 (n-1)/n S/B" : "ceil(log2 n) a + (n-1)/n S/B"};
        for (std::uint32_t level = 0; level < levels_; ++level)
            form.add_steps(twice ? 2 : 1, 1, split_.largest() * blocks_of(level));
        return form;
    }

  private:
    bool gathers() const { return shape().op != CollectiveOp::reduce_scatter; }
    std::uint32_t gathering_from() const { return shape().op == CollectiveOp::all_gather ? 0 : levels_; }
    std::uint32_t blocks_of(std::uint32_t level) const { return (n_ - 1 + (1U << level)) >> (level + 1); }

    std::uint32_t levels_;
};

CollectiveRegistration const nhr({.name = "nhr",
                                  .nccl = "",
                                  .hccl = "NHR",
                                  .source = "HCCL, algorithm NHR (gitee.com/ascend/cann-hccl, docs/NHR.md)",
                                  .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                          CollectiveOp::all_gather},
                                  .refuses = accept_all,
                                  .plan = make_plan<Nhr>});

}  // namespace
}  // namespace orrery
