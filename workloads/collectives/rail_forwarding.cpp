// SPDX-License-Identifier: Apache-2.0
// Rail forwarding: all-to-all in which data crosses nodes on the rail of its target only.
#include "workloads/collectives/levels.hpp"
#include "workloads/collectives/plan_parts.hpp"

namespace orrery {
namespace {

// As NCCL's PXN. Step 0, inside the node: member (A, i) hands (A, j) all that it has for the j-th members of all nodes.
// Step 1, on rail j: (A, j) sends (B, j) all that the members of A have for it, in one message. Nothing crosses from
// rail to rail in the network. Block s * n + t is what s has for t.
class RailForwarding final : public SplitPlan {
  public:
    explicit RailForwarding(CollectiveShape const& shape) : SplitPlan(shape), nodes_(equal_nodes(shape)) {}

    std::uint32_t steps() const override { return 2; }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const node = nodes_.node(member), local = nodes_.local(member);
        auto const peers = step == 0 ? nodes_.per_node : nodes_.nodes;
        for (std::uint32_t distance = 1; distance < peers; ++distance) {
            auto const peer = step == 0 ? nodes_.member(node, (local + distance) % peers)
                                        : nodes_.member((node + distance) % peers, local);
            out.message(peer, bytes(member, peer, step));
            if (!out.keeps_pieces()) continue;
            for_each_block(member, peer, step, [&](std::uint32_t source, std::uint32_t target) {
                out.piece(std::uint64_t{source} * n_ + target, 1, Combine::copy);
            });
        }
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t step) const override {
        return (step == 0 ? nodes_.per_node : nodes_.nodes) - 1;
    }
    std::uint64_t blocks() const override { return std::uint64_t{n_} * n_; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        return pair_bytes(static_cast<std::uint32_t>(block / n_), static_cast<std::uint32_t>(block % n_));
    }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = shape().pair_bytes ? ClosedForm::Holds::at_most : if_even(),
                        .text = "a + (L-1)/L S/B in the node + a + (N-1)/N S/B on the rail, n = N L"};
        for (std::uint32_t step = 0; step < 2; ++step) {
            std::int64_t largest = 0;
            SendList out;
            for (std::uint32_t member = 0; member < (form.holds == ClosedForm::Holds::exactly ? 1 : n_); ++member)
                sends(member, 0, step, out);
            for (auto const& send : out.sends()) largest = std::max(largest, send.bytes);
            if (receives(0, 0, step) > 0) form.add_steps(1, receives(0, 0, step), largest);
        }
        return form;
    }

  private:
    std::int64_t pair_bytes(std::uint32_t source, std::uint32_t target) const {
        return shape().pair_bytes ? shape().pair_bytes->bytes(source, target) : split_.size(target);
    }
    std::int64_t bytes(std::uint32_t member, std::uint32_t peer, std::uint32_t step) const {
        if (!shape().pair_bytes && split_.even()) return split_.size(0) * (step == 0 ? nodes_.nodes : nodes_.per_node);
        std::int64_t sum = 0;
        for_each_block(member, peer, step,
                       [&](std::uint32_t source, std::uint32_t target) { sum += pair_bytes(source, target); });
        return sum;
    }
    // What a message carries, as (source, target).
    template <class Visit>
    void for_each_block(std::uint32_t member, std::uint32_t peer, std::uint32_t step, Visit const& visit) const {
        if (step == 0)
            for (std::uint32_t node = 0; node < nodes_.nodes; ++node)
                visit(member, nodes_.member(node, nodes_.local(peer)));
        else
            for (std::uint32_t local = 0; local < nodes_.per_node; ++local)
                visit(nodes_.member(nodes_.node(member), local), peer);
    }

    EqualNodes nodes_;
};

CollectiveRegistration const rail_forwarding({.name = "rail_forwarding",
                                              .nccl = "PXN",
                                              .hccl = "",
                                              .source = "NVIDIA, Doubling all2all Performance with NCCL 2.12 (2022)",
                                              .ops = {CollectiveOp::all_to_all, CollectiveOp::all_to_all_v},
                                              .refuses = lacks_equal_nodes,
                                              .plan = make_plan<RailForwarding>});

}  // namespace
}  // namespace orrery
