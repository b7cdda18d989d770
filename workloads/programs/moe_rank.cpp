// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/moe_rank.hpp"

#include <algorithm>

namespace orrery {

MoeRank::MoeRank(RankId rank, std::uint32_t group, StepPlan const& plan, std::span<LpId const> carriers,
                 std::uint32_t parts, TimelineSink& sink)
    : rank_(rank), group_(group), plan_(&plan), carriers_(carriers), parts_(parts), sink_(&sink) {}

void MoeRank::start(Outbox& out) {
    skip_silent_layers();
    advance(Time{}, out);
}

void MoeRank::handle(Event const& event, Outbox& out) {
    switch (event.kind) {
        case compute_done:
            end_compute(event.when);
            break;
        case exchange_done: {
            auto const microbatch = communication_op().microbatch;
            ORRERY_ENSURE(communication_.busy && parts_missing_ > 0,
                          "rank {} got the end of an exchange it did not start", rank_.value());
            last_peer_start_ = std::max(last_peer_start_, Time::from_ps(static_cast<std::int64_t>(event.body[1])));
            if (communication_op().kind == OpKind::dispatch) {
                messages_[microbatch] = static_cast<std::uint32_t>(event.body[2] >> 32);
                active_[microbatch] = static_cast<std::uint32_t>(event.body[2]);
            }
            if (--parts_missing_ == 0) end_exchange(event.when);
            break;
        }
        default:
            ORRERY_ENSURE(false, "rank {} got an event of kind {}", rank_.value(), event.kind);
    }
    advance(event.when, out);
}

void MoeRank::next_op(Stream& stream, std::size_t ops_in_layer) {
    if (++stream.op < ops_in_layer) return;
    stream.op = 0;
    ++stream.layer;
}

// Dense layers have no communication.
void MoeRank::skip_silent_layers() {
    auto const layers = plan_->layers();
    while (communication_.layer < layers.size() && !layers[communication_.layer].moe) ++communication_.layer;
}

void MoeRank::advance(Time now, Outbox& out) {
    auto const layers = plan_->layers().size();
    if (!compute_.busy && compute_.layer < layers && ready(compute_op())) start_compute(now, out);
    if (!communication_.busy && communication_.layer < layers && ready(communication_op())) start_exchange(now, out);
    if (finished()) finished_at_ = now;
}

bool MoeRank::ready(StepOp op) const {
    auto const m = op.microbatch;
    switch (op.kind) {
        case OpKind::attention:
            return layer_done_[m] >= compute_.layer;
        case OpKind::dispatch:
            return gated_[m] > communication_.layer;
        case OpKind::experts:
            return dispatched_[m] > compute_.layer;
        case OpKind::combine:
            return expert_done_[m] > communication_.layer;
        default:
            return true;  // follows its attention on the same stream
    }
}

void MoeRank::start_compute(Time now, Outbox& out) {
    auto const op = compute_op();
    compute_.busy = true;
    compute_.since = now;
    auto const duration = op.kind == OpKind::experts
                              ? plan_->costs().experts(messages_[op.microbatch], active_[op.microbatch])
                              : plan_->duration(op.kind, layer_of(compute_));
    out.schedule(now + duration, compute_done, {});
}

void MoeRank::end_compute(Time now) {
    auto const op = compute_op();
    record(compute_, op, now, Time{}, Time{});
    computed_ += now - compute_.since;
    compute_.busy = false;
    auto const passed = static_cast<std::uint16_t>(compute_.layer + 1);
    if (op.kind == OpKind::gate) gated_[op.microbatch] = passed;
    if (op.kind == OpKind::experts) expert_done_[op.microbatch] = passed;
    if (op.kind == OpKind::dense_ffn) layer_done_[op.microbatch] = passed;
    next_op(compute_, plan_->compute(layer_of(compute_)).size());
}

void MoeRank::start_exchange(Time now, Outbox& out) {
    auto const op = communication_op();
    communication_.busy = true;
    communication_.since = now;
    computed_at_start_ = computed_until(now);
    last_peer_start_ = now;
    auto const& costs = plan_->costs();
    auto const launch = op.kind == OpKind::dispatch ? costs.dispatch_launch : costs.combine_launch;
    ExchangeKey const key{group_, layer_of(communication_).model_layer, op.microbatch, op.kind};
    parts_missing_ = parts_;
    for (auto const carrier : carriers_)
        out.send(carrier, now + launch, exchange_post, {key.pack(), static_cast<std::uint64_t>(now.ps()), 0, 0, 0});
}

void MoeRank::end_exchange(Time now) {
    auto const op = communication_op();
    auto const wait = std::min(last_peer_start_, now) - communication_.since;
    auto const overlapped = computed_until(now) - computed_at_start_;
    record(communication_, op, now, wait, now - communication_.since - overlapped);
    communication_.busy = false;
    auto const passed = static_cast<std::uint16_t>(communication_.layer + 1);
    (op.kind == OpKind::dispatch ? dispatched_ : layer_done_)[op.microbatch] = passed;
    next_op(communication_, plan_->communication(layer_of(communication_)).size());
    skip_silent_layers();
}

Time MoeRank::computed_until(Time now) const {
    return compute_.busy ? computed_ + (now - compute_.since) : computed_;
}

void MoeRank::record(Stream const& stream, StepOp op, Time end, Time wait, Time exposed) {
    OperationRow const row{.start = stream.since,
                           .end = end,
                           .wait = wait,
                           .exposed = exposed,
                           .rank = rank_.value(),
                           .sequence = sequence_++,
                           .layer = layer_of(stream).model_layer,
                           .kind = op.kind,
                           .microbatch = op.microbatch};
    sink_->add(row);
    digest_.add(static_cast<std::uint64_t>(row.start.ps()));
    digest_.add(static_cast<std::uint64_t>(row.end.ps()));
    digest_.add(static_cast<std::uint64_t>(row.wait.ps()));
    digest_.add(static_cast<std::uint64_t>(row.exposed.ps()));
    digest_.add(static_cast<std::uint64_t>(row.layer) << 16 | static_cast<std::uint64_t>(row.kind) << 8 |
                row.microbatch);
}

void MoeRank::state(StateStream& stream) {
    stream(compute_, communication_, gated_, dispatched_, expert_done_, layer_done_, messages_, active_, parts_missing_,
           last_peer_start_, computed_, computed_at_start_, finished_at_, sequence_, digest_);
}

std::string MoeRank::waiting_for() const {
    auto const layers = plan_->layers().size();
    if (communication_.busy)
        return fmt::format("rank {} is in {} of layer {}, micro-batch {} since {}", rank_.value(),
                           name_of(communication_op().kind), layer_of(communication_).model_layer,
                           communication_op().microbatch, to_string(communication_.since));
    if (compute_.layer < layers)
        return fmt::format("rank {} waits to start {} of layer {}, micro-batch {}", rank_.value(),
                           name_of(compute_op().kind), layer_of(compute_).model_layer, compute_op().microbatch);
    return fmt::format("rank {} is done", rank_.value());
}

}  // namespace orrery
