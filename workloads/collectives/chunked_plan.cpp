// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/chunked_plan.hpp"

namespace orrery {
namespace {

std::unique_ptr<CollectivePlan> plan_of_chunk(CollectiveAlgorithm const& algorithm, CollectiveShape shape,
                                              std::int64_t bytes) {
    shape.chunks = 1;
    shape.bytes = bytes;
    return algorithm.plan(shape);
}

}  // namespace

ChunkedPlan::ChunkedPlan(CollectiveAlgorithm const& algorithm, CollectiveShape const& shape)
    : CollectivePlan(shape),
      split_(shape.bytes, shape.chunks),
      large_(plan_of_chunk(algorithm, shape, split_.largest())),
      small_(plan_of_chunk(algorithm, shape, split_.size(shape.chunks - 1))) {}

void ChunkedPlan::sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const {
    auto const chunk = lane / inner_lanes();
    auto const& plan = inner(chunk);
    if (!out.keeps_pieces()) return plan.sends(member, lane % inner_lanes(), step, out);
    SendList whole(SendList::Keep::pieces);
    plan.sends(member, lane % inner_lanes(), step, whole);
    for (auto const& send : whole.sends()) {
        out.message(send.peer, send.bytes, send.way);
        for (auto const& piece : whole.pieces(send))
            for (auto block = piece.first; block < piece.first + piece.count; ++block)
                out.piece(block * shape().chunks + chunk, 1, piece.combine);
    }
}

ClosedForm ChunkedPlan::closed_form() const {
    auto form = large_->pipelined_form(shape().chunks);
    if (!split_.even()) form.holds = ClosedForm::Holds::at_most;
    return form;
}

}  // namespace orrery
