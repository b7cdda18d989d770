// SPDX-License-Identifier: Apache-2.0
// Double binary tree: two trees over the same members, half of the data each, so that no member is a leaf of both only.
#include "workloads/collectives/plan_parts.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Sanders, Speck & Traeff (Parallel Computing 35, 2009), with the trees as NCCL numbers them: in the first, members
// with an odd number are leaves and a member's distance to its children is half of its lowest set bit; the second is
// the first mirrored (n even) or shifted by one (n odd). A lane each; a member passes data up once its children's has
// arrived, and down once its parent's has.
class DoubleBinaryTree final : public CollectivePlan {
  public:
    explicit DoubleBinaryTree(CollectiveShape const& shape)
        : CollectivePlan(shape), n_(shape.members), split_(shape.bytes, 2) {
        for (std::uint32_t member = 0; member < n_; ++member) height_ = std::max(height_, depth(member));
    }

    std::uint32_t lanes() const override { return 2; }
    std::uint32_t steps() const override { return 2 * height_; }

    void sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const override {
        auto const v = place(member, lane);
        auto const d = depth(v);
        if (v != 0 && step + d == height_) {
            out.message(at(parent(v), lane), split_.size(lane));
            out.piece(lane, 1, Combine::reduce);
        }
        if (step == height_ + d)
            for (auto const child : children(v)) {
                if (child == no_member) continue;
                out.message(at(child, lane), split_.size(lane));
                out.piece(lane, 1, Combine::copy);
            }
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const override {
        auto const v = place(member, lane);
        auto const d = depth(v);
        std::uint32_t count = 0;
        if (step + d + 1 == height_)
            for (auto const child : children(v)) count += child != no_member ? 1 : 0;
        return count + (v != 0 && step + 1 == height_ + d ? 1 : 0);
    }
    // Active in the steps H-d-1, H-d, H+d-1 and H+d at depth d of H.
    std::uint32_t next_step(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const override {
        auto const d = depth(place(member, lane));
        auto const up = height_ - std::min(d + 1, height_), down = height_ + d - std::min(d, 1U);
        if (step < up) return up;
        if (step <= height_ - d) return step;
        return step < down ? down : step;
    }

    std::uint64_t blocks() const override { return 2; }
    std::int64_t block_bytes(std::uint64_t block) const override { return split_.size(block); }

    // A step passes at most two messages of a tree through a port, and the other tree as many.
    ClosedForm closed_form() const override {
        ClosedForm form{.holds = ClosedForm::Holds::at_most,
                        .text = "2 H (a + 4 S/2 / B), H = floor(log2 n) or one more"};
        form.add_steps(steps(), 4, split_.largest());
        return form;
    }

  private:
    // From a member to its number in the tree of a lane, and back: both mappings are the same but for the shift.
    std::uint32_t place(std::uint32_t member, std::uint32_t lane) const {
        if (lane == 0) return member;
        return n_ % 2 == 0 ? n_ - 1 - member : (member + n_ - 1) % n_;
    }
    std::uint32_t at(std::uint32_t place, std::uint32_t lane) const {
        if (lane == 0) return place;
        return n_ % 2 == 0 ? n_ - 1 - place : (place + 1) % n_;
    }
    std::uint32_t parent(std::uint32_t v) const {
        auto const bit = v & (~v + 1);
        auto const up = (v ^ bit) | bit << 1;
        return up >= n_ ? v ^ bit : up;
    }
    struct Children {
        std::uint32_t first = no_member, second = no_member;
        std::uint32_t const* begin() const { return &first; }
        std::uint32_t const* end() const { return &second + 1; }
    };
    Children children(std::uint32_t v) const {
        if (v == 0) return {.first = n_ > 1 ? std::bit_floor(n_ - 1) : no_member, .second = no_member};
        auto low = (v & (~v + 1)) >> 1;
        if (low == 0) return {};
        Children result{.first = v - low, .second = no_member};
        while (low > 0 && v + low >= n_) low >>= 1;
        if (low > 0) result.second = v + low;
        return result;
    }
    std::uint32_t depth(std::uint32_t v) const {
        std::uint32_t d = 0;
        for (; v != 0; v = parent(v)) ++d;
        return d;
    }

    std::uint32_t n_, height_ = 0;
    EvenSplit split_;
};

CollectiveRegistration const double_binary_tree({.name = "double_binary_tree",
                                                 .nccl = "Tree",
                                                 .hccl = "",
                                                 .source = "Sanders, Speck & Traeff, Parallel Computing 35 (2009)",
                                                 .ops = {CollectiveOp::all_reduce},
                                                 .refuses = accept_all,
                                                 .plan = make_plan<DoubleBinaryTree>});

}  // namespace
}  // namespace orrery
