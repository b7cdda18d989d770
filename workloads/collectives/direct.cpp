// SPDX-License-Identifier: Apache-2.0
// Direct (full mesh): everything goes straight from whom has it to whom needs it, all at once.
#include "workloads/collectives/plan_parts.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

// Reduce-scatter and all-gather are one step each, all-reduce is both. Peers are served in order of distance, so that
// no two members begin with the same one.
class DirectExchange final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override {
        if (n_ == 1) return 0;
        return shape().op == CollectiveOp::all_reduce ? 2 : 1;
    }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        bool const gathers = shape().op == CollectiveOp::all_gather || step == 1;
        for (std::uint32_t distance = 1; distance < n_; ++distance) {
            auto const peer = after(member, distance);
            auto const block = gathers ? member : peer;
            out.message(peer, split_.size(block));
            out.piece(block, 1, gathers ? Combine::copy : Combine::reduce);
        }
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return n_ - 1; }

    ClosedForm closed_form() const override {
        ClosedForm form{.text = steps() == 2 ? "2 a + 2 (n-1)/n S/B" : "a + (n-1)/n S/B"};
        form.add_steps(steps(), n_ - 1, split_.largest());
        return form;
    }
};

// One step in which every pair exchanges what it has for each other. Block s * n + t is what s has for t.
class DirectAllToAll final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override { return n_ == 1 ? 0 : 1; }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t, SendList& out) const override {
        for (std::uint32_t distance = 1; distance < n_; ++distance) {
            auto const peer = after(member, distance);
            auto const bytes = pair_bytes(member, peer);
            if (bytes == 0 && shape().pair_bytes) continue;
            out.message(peer, bytes);
            out.piece(std::uint64_t{member} * n_ + peer, 1, Combine::copy);
        }
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t) const override {
        if (!shape().pair_bytes) return n_ - 1;
        std::uint32_t count = 0;
        for (std::uint32_t source = 0; source < n_; ++source)
            count += source != member && pair_bytes(source, member) > 0 ? 1 : 0;
        return count;
    }
    std::uint64_t blocks() const override { return std::uint64_t{n_} * n_; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        return pair_bytes(static_cast<std::uint32_t>(block / n_), static_cast<std::uint32_t>(block % n_));
    }

    ClosedForm closed_form() const override {
        ClosedForm form{.text = shape().pair_bytes ? "a + (bytes of the busiest port) / B" : "a + (n-1)/n S/B"};
        if (!shape().pair_bytes) {
            form.add_steps(steps(), n_ - 1, split_.largest());
            return form;
        }
        // Alike messages together, of the port with most bytes; with as many on two, which has more messages decides
        // less than a picosecond each.
        form.holds = ClosedForm::Holds::at_most;
        std::map<std::int64_t, std::int64_t> busiest;
        std::int64_t most = -1;
        for (std::uint32_t member = 0; member < n_; ++member)
            for (bool const out : {true, false}) {
                std::map<std::int64_t, std::int64_t> messages;
                std::int64_t bytes = 0;
                for (std::uint32_t peer = 0; peer < n_; ++peer) {
                    auto const size = out ? pair_bytes(member, peer) : pair_bytes(peer, member);
                    if (peer == member || size == 0) continue;
                    ++messages[size];
                    bytes += size;
                }
                if (bytes > most) {
                    most = bytes;
                    busiest = std::move(messages);
                }
            }
        std::int64_t latencies = 1;
        for (auto const& [size, count] : busiest) {
            form.terms.push_back({latencies, count, size});
            latencies = 0;
        }
        return form;
    }

  private:
    std::int64_t pair_bytes(std::uint32_t source, std::uint32_t target) const {
        return shape().pair_bytes ? shape().pair_bytes->bytes(source, target) : split_.size(target);
    }
};

// Between the root and everybody: broadcast, reduce, gather, scatter.
class DirectRooted final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override { return n_ == 1 ? 0 : 1; }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t, SendList& out) const override {
        auto const root = shape().root;
        if (inward()) {
            if (member != root) add(root, member, out);
        } else if (member == root) {
            for (std::uint32_t distance = 1; distance < n_; ++distance)
                add(after(root, distance), after(root, distance), out);
        }
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t) const override {
        bool const is_root = member == shape().root;
        if (inward()) return is_root ? n_ - 1 : 0;
        return is_root ? 0 : 1;
    }
    std::uint64_t blocks() const override { return parted() ? n_ : 1; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        return parted() ? split_.size(block) : shape().bytes;
    }

    ClosedForm closed_form() const override {
        ClosedForm form{.text = parted() ? "a + (n-1)/n S/B" : "a + (n-1) S/B"};
        if (n_ == 1) return form;
        if (!parted()) {
            form.add_steps(1, n_ - 1, shape().bytes);
            return form;
        }
        // The root keeps its own part, which may be one of the larger ones.
        std::int64_t large = 0;
        for (std::uint32_t part = 0; part < n_; ++part)
            large += part != shape().root && split_.size(part) == split_.largest() ? 1 : 0;
        form.terms = {{1, large, split_.largest()}, {0, n_ - 1 - large, split_.size(n_ - 1)}};
        return form;
    }

  private:
    bool inward() const { return shape().op == CollectiveOp::gather || shape().op == CollectiveOp::reduce; }
    bool parted() const { return shape().op == CollectiveOp::gather || shape().op == CollectiveOp::scatter; }
    // `part`: whose data it is, when everybody has a part of its own.
    void add(std::uint32_t peer, std::uint32_t part, SendList& out) const {
        out.message(peer, parted() ? split_.size(part) : shape().bytes);
        out.piece(parted() ? part : 0, 1, shape().op == CollectiveOp::reduce ? Combine::reduce : Combine::copy);
    }
};

// Every member to the next one, as nccl-tests' sendrecv. Block b is member b's.
class Neighbours final : public SplitPlan {
  public:
    using SplitPlan::SplitPlan;

    std::uint32_t steps() const override { return n_ == 1 ? 0 : 1; }
    void sends(std::uint32_t member, std::uint32_t, std::uint32_t, SendList& out) const override {
        out.message(after(member, 1), shape().bytes);
        out.piece(member, 1, Combine::copy);
    }
    std::uint32_t receives(std::uint32_t, std::uint32_t, std::uint32_t) const override { return 1; }
    std::int64_t block_bytes(std::uint64_t) const override { return shape().bytes; }
    ClosedForm closed_form() const override {
        ClosedForm form{.text = "a + S/B"};
        form.add_steps(steps(), 1, shape().bytes);
        return form;
    }
};

std::unique_ptr<CollectivePlan> plan_direct(CollectiveShape const& shape) {
    switch (shape.op) {
        case CollectiveOp::all_to_all:
        case CollectiveOp::all_to_all_v:
            return std::make_unique<DirectAllToAll>(shape);
        case CollectiveOp::broadcast:
        case CollectiveOp::reduce:
        case CollectiveOp::gather:
        case CollectiveOp::scatter:
            return std::make_unique<DirectRooted>(shape);
        case CollectiveOp::send_recv:
            return std::make_unique<Neighbours>(shape);
        default:
            return std::make_unique<DirectExchange>(shape);
    }
}

CollectiveRegistration const direct(
    {.name = "direct",
     .nccl = "P2P",
     .hccl = "Mesh",
     .source = "one step per phase; HCCL's Mesh, ASTRA-sim's direct, NCCL's grouped send and receive",
     .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather, CollectiveOp::all_to_all,
             CollectiveOp::all_to_all_v, CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::gather,
             CollectiveOp::scatter, CollectiveOp::send_recv},
     .refuses = accept_all,
     .plan = plan_direct});

}  // namespace
}  // namespace orrery
