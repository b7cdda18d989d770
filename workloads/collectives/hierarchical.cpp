// SPDX-License-Identifier: Apache-2.0
// Hierarchical: an algorithm inside every node, and one between the nodes, for two levels, three or more.
#include "workloads/collectives/levels.hpp"
#include "workloads/collectives/plan_parts.hpp"

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

// A phase of the whole: the same plan in every group of the phase (in every node; or between the members with one local
// number in all nodes), after the phase before.
struct Phase {
    enum class Where : std::uint8_t { in_nodes, between_nodes };
    Where where{};
    // Of groups whose data is a byte larger or smaller; in_nodes only the first is used.
    std::unique_ptr<CollectivePlan> large, small;
    std::uint32_t first_step = 0;
    std::uint32_t only_local = no_member;  // between nodes only these members take part
};

// HCCL's level0 and level1, NCCL's hierarchy of NVLink and network. All-reduce: reduce-scatter in the nodes, all-reduce
// of every part between the nodes, all-gather in the nodes. With L members per node, local j's part is the blocks
// k * L + j of all nodes k, so that the parts of reduce-scatter and all-gather end where they belong.
class Hierarchical final : public SplitPlan {
  public:
    explicit Hierarchical(CollectiveShape const& shape)
        : SplitPlan(shape), nodes_(equal_nodes(shape)), part_(shape.bytes, nodes_.per_node) {
        auto const op = shape.op;
        auto const root_local = nodes_.local(shape.root);
        switch (op) {
            case CollectiveOp::all_reduce:
                add_inside(CollectiveOp::reduce_scatter);
                add_between(op);
                add_inside(CollectiveOp::all_gather);
                break;
            case CollectiveOp::reduce_scatter:
                add_inside(op);
                add_between(op);
                break;
            case CollectiveOp::all_gather:
                add_between(op);
                add_inside(op);
                break;
            case CollectiveOp::broadcast:
                add_between(op, root_local);
                add_inside(op);
                break;
            default:
                add_inside(op);
                add_between(op, root_local);
        }
    }

    std::uint32_t steps() const override { return steps_; }

    void sends(std::uint32_t member, std::uint32_t, std::uint32_t step, SendList& out) const override {
        auto const& phase = phase_of(step);
        if (!takes_part(phase, member)) return;
        SendList inner(out.keeps_pieces() ? SendList::Keep::pieces : SendList::Keep::sends);
        plan_of(phase, member).sends(index_in(phase, member), 0, step - phase.first_step, inner);
        for (auto const& send : inner.sends()) {
            out.message(at(phase, member, send.peer), send.bytes, send.way);
            for (auto const& piece : inner.pieces(send))
                for (auto block = piece.first; block < piece.first + piece.count; ++block)
                    add_block(phase, member, static_cast<std::uint32_t>(block), piece.combine, out);
        }
    }
    std::uint32_t receives(std::uint32_t member, std::uint32_t, std::uint32_t step) const override {
        auto const& phase = phase_of(step);
        if (!takes_part(phase, member)) return 0;
        return plan_of(phase, member).receives(index_in(phase, member), 0, step - phase.first_step);
    }

    std::uint64_t blocks() const override { return whole() ? 1 : n_; }
    std::int64_t block_bytes(std::uint64_t block) const override {
        return whole() ? shape().bytes : split_.size(block);
    }

    ClosedForm closed_form() const override {
        ClosedForm form;
        for (auto const& phase : phases_) {
            auto const inner = phase.large->closed_form();
            form.terms.insert(form.terms.end(), inner.terms.begin(), inner.terms.end());
            if (inner.holds == ClosedForm::Holds::at_most) form.holds = inner.holds;
            form.text += fmt::format(
                "{}{}: {}", form.text.empty() ? "" : "; ",
                phase.where == Phase::Where::in_nodes ? "in nodes, n = L" : "between them, n = n/L", inner.text);
        }
        if (!whole() && !split_.even()) form.holds = ClosedForm::Holds::at_most;
        return form;
    }

  private:
    bool whole() const { return shape().op == CollectiveOp::broadcast || shape().op == CollectiveOp::reduce; }

    void add(Phase phase) {
        ORRERY_ENSURE(phase.large->lanes() == 1, "phases of several lanes cannot follow each other");
        phase.first_step = steps_;
        steps_ += phase.large->steps();
        if (phase.large->steps() > 0) phases_.push_back(std::move(phase));
    }
    void add_inside(CollectiveOp op) {
        CollectiveShape inside{
            .op = op, .members = nodes_.per_node, .bytes = shape().bytes, .root = nodes_.local(shape().root)};
        auto const& names = shape().level_algorithms;
        add({.where = Phase::Where::in_nodes,
             .large = plan_collective(names.empty() ? inside_default() : names.front(), inside)});
    }
    // What HCCL takes when the ranks of a server form a full mesh. Whole data goes down a tree instead.
    std::string_view inside_default() const { return whole() ? "binomial_tree" : "direct"; }
    void add_between(CollectiveOp op, std::uint32_t only_local = no_member) {
        auto between = shape_of_nodes(shape());
        between.op = op;
        between.root = nodes_.node(shape().root);
        Phase phase{.where = Phase::Where::between_nodes, .only_local = only_local};
        between.bytes = whole() ? shape().bytes : part_.largest();
        phase.large = plan_collective(between_name(between), between);
        between.bytes = whole() ? shape().bytes : part_.size(nodes_.per_node - 1);
        phase.small = plan_collective(between_name(between), between);
        add(std::move(phase));
    }
    std::string between_name(CollectiveShape const& between) const {
        bool const higher = !between.levels.empty() && between.levels.front().size() > 1 &&
                            between.levels.front().size() < between.members;
        if (higher) return "hierarchical";
        if (!between.level_algorithms.empty()) return between.level_algorithms.front();
        return whole() ? "binomial_tree" : "ring";
    }

    Phase const& phase_of(std::uint32_t step) const {
        auto const after =
            std::find_if(phases_.begin(), phases_.end(), [&](Phase const& phase) { return phase.first_step > step; });
        return *std::prev(after);
    }
    bool takes_part(Phase const& phase, std::uint32_t member) const {
        return phase.only_local == no_member || nodes_.local(member) == phase.only_local;
    }
    CollectivePlan const& plan_of(Phase const& phase, std::uint32_t member) const {
        bool const large =
            phase.where == Phase::Where::in_nodes || whole() || part_.size(nodes_.local(member)) == part_.largest();
        return large ? *phase.large : *phase.small;
    }
    std::uint32_t index_in(Phase const& phase, std::uint32_t member) const {
        return phase.where == Phase::Where::in_nodes ? nodes_.local(member) : nodes_.node(member);
    }
    // The member with this index in the group of `member`.
    std::uint32_t at(Phase const& phase, std::uint32_t member, std::uint32_t index) const {
        return phase.where == Phase::Where::in_nodes ? nodes_.member(nodes_.node(member), index)
                                                     : nodes_.member(index, nodes_.local(member));
    }
    void add_block(Phase const& phase, std::uint32_t member, std::uint32_t block, Combine combine,
                   SendList& out) const {
        if (whole())
            out.piece(0, 1, combine);
        else if (phase.where == Phase::Where::between_nodes)
            out.piece(nodes_.member(block, nodes_.local(member)), 1, combine);
        else
            for (std::uint32_t node = 0; node < nodes_.nodes; ++node) out.piece(nodes_.member(node, block), 1, combine);
    }

    EqualNodes nodes_;
    EvenSplit part_;  // per local number
    std::vector<Phase> phases_;
    std::uint32_t steps_ = 0;
};

CollectiveRegistration const hierarchical(
    {.name = "hierarchical",
     .nccl = "",
     .hccl = "level0:...;level1:...",
     .source = "HCCL, hierarchical execution by server and super-node; Thakur & Gropp (2003) for the principle",
     .ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather, CollectiveOp::broadcast,
             CollectiveOp::reduce},
     .refuses = lacks_equal_nodes,
     .plan = make_plan<Hierarchical>});

}  // namespace
}  // namespace orrery
