// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-reduce of nodes that have different numbers of members.
#include "workloads/collectives/levels.hpp"
#include "workloads/collectives/plan_parts.hpp"

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

// HCCL's AHC, asymmetric hierarchical concatenation. A node of L members cuts the data into L parts. The cuts of all
// nodes together make segments, each of which belongs to exactly one member in every node. Reduce-scatter inside the
// nodes (direct), a ring between the owners of every segment over the N nodes, all-gather inside the nodes (direct).
// Block x * N + k is the k-th part of segment x.
class UnequalHierarchical final : public CollectivePlan {
  public:
    explicit UnequalHierarchical(CollectiveShape const& shape)
        : CollectivePlan(shape), first_(shape.levels.front()), nodes_(static_cast<std::uint32_t>(first_.size())) {
        for (std::uint32_t node = 0; node < nodes_; ++node)
            for (std::uint32_t local = 0; local < size(node); ++local) cuts_.push_back(cut(node, local));
        cuts_.push_back(shape.bytes);
        std::sort(cuts_.begin(), cuts_.end());
        cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
        if (cuts_.size() == 1) cuts_.push_back(shape.bytes);  // nothing at all: one empty segment
    }

    std::uint32_t steps() const override { return 2 + 2 * (nodes_ - 1); }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const node = node_of(member), local = member - first_[node];
        if (step == 0 || step + 1 == steps()) {
            for (std::uint32_t distance = 1; distance < size(node); ++distance) {
                auto const peer = (local + distance) % size(node);
                auto const part = segments(node, step == 0 ? peer : local);
                out.message(first_[node] + peer, cuts_[part.end] - cuts_[part.begin]);
                out.piece(part.begin * nodes_, (part.end - part.begin) * nodes_,
                          step == 0 ? Combine::reduce : Combine::copy);
            }
            return;
        }
        auto const next = (node + 1) % nodes_;
        auto const part = segments(node, local);
        for (auto segment = part.begin; segment < part.end; ++segment) {
            auto const block = segment * nodes_ + (node + 2 * nodes_ - step) % nodes_;
            out.message(owner(next, segment), block_bytes(block));
            out.piece(block, 1, step < nodes_ ? Combine::reduce : Combine::copy);
        }
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        auto const node = node_of(member);
        if (step == 0 || step + 1 == steps()) return size(node) - 1;
        auto const part = segments(node, member - first_[node]);
        return static_cast<std::uint32_t>(part.end - part.begin);
    }

    std::uint64_t blocks() const override { return (cuts_.size() - 1) * nodes_; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        auto const segment = block / nodes_;
        return EvenSplit(cuts_[segment + 1] - cuts_[segment], nodes_).size(block % nodes_);
    }

    ClosedForm closed_form() const override {
        ClosedForm form{.holds = ClosedForm::Holds::at_most,
                        .text = "2 (a + (L-1)/L S/B) + 2 (N-1) (a + S/(N L) / B), L members in the smallest node"};
        std::uint32_t smallest = shape().members, largest = 0, most = 0;
        for (std::uint32_t node = 0; node < nodes_; ++node) {
            smallest = std::min(smallest, size(node));
            largest = std::max(largest, size(node));
            for (std::uint32_t local = 0; local < size(node); ++local)
                most = std::max(most, receives(first_[node] + local, 0, 1));
        }
        // A part of the largest share in every message is more than any port passes.
        auto const share = (shape().bytes + smallest - 1) / smallest;
        form.add_steps(2, largest - 1, share);
        form.add_steps(2 * (std::int64_t{nodes_} - 1), 1, share / nodes_ + most);
        return form;
    }

  private:
    struct Segments {
        std::uint64_t begin, end;
    };
    std::uint32_t size(std::uint32_t node) const { return node_size(shape(), node); }
    // Where the part of a local member begins.
    std::int64_t cut(std::uint32_t node, std::uint32_t local) const {
        return static_cast<std::int64_t>(Int128{shape().bytes} * local / size(node));
    }
    std::uint32_t node_of(std::uint32_t member) const {
        return static_cast<std::uint32_t>(std::upper_bound(first_.begin(), first_.end(), member) - first_.begin()) - 1;
    }
    std::uint64_t segment_at(std::int64_t byte) const {
        return static_cast<std::uint64_t>(std::lower_bound(cuts_.begin(), cuts_.end(), byte) - cuts_.begin());
    }
    Segments segments(std::uint32_t node, std::uint32_t local) const {
        if (shape().bytes == 0) return {0, local == 0 ? 1U : 0U};
        return {segment_at(cut(node, local)), segment_at(cut(node, local + 1))};
    }
    std::uint32_t owner(std::uint32_t node, std::uint64_t segment) const {
        std::uint32_t low = 0, high = size(node);  // the last local member whose part begins at or before the segment
        while (high - low > 1) {
            auto const middle = (low + high) / 2;
            (cut(node, middle) <= cuts_[segment] ? low : high) = middle;
        }
        return first_[node] + (shape().bytes == 0 ? 0 : low);
    }

    std::vector<std::uint32_t> first_;
    std::uint32_t nodes_;
    std::vector<std::int64_t> cuts_;  // ascending, from 0 to all bytes
};

CollectiveRegistration const unequal_hierarchical({.name = "unequal_hierarchical",
                                                   .nccl = "",
                                                   .hccl = "AHC",
                                                   .source =
                                                       "HCCL, algorithm AHC (asymmetric hierarchical concatenation)",
                                                   .ops = {CollectiveOp::all_reduce},
                                                   .refuses =
                                                       [](CollectiveShape const& shape) {
                                                           return shape.levels.empty() || shape.levels.front().size() < 2
                        ? std::string{"it needs members on two nodes or more"}
                        : std::string{};
                                                       },
                                                   .plan = make_plan<UnequalHierarchical>});

}  // namespace
}  // namespace orrery
