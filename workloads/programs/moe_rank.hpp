// SPDX-License-Identifier: Apache-2.0
// The logical process of one simulated rank that runs a MoE step.
#pragma once

#include "core/lp.hpp"
#include "core/records.hpp"
#include "netmodels/exchange/exchange.hpp"
#include "workloads/programs/step_plan.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace orrery {

class MoeRank final : public LogicalProcess {
  public:
    static constexpr std::uint32_t most_microbatches = 8;

    // `carriers` are the LPs that must know of this rank's exchanges; `parts` of them answer. Plan and carriers outlive
    // the rank.
    MoeRank(RankId rank, std::uint32_t group, StepPlan const& plan, std::span<LpId const> carriers, std::uint32_t parts,
            TimelineSink& sink);

    void start(Outbox& out) override;
    void handle(Event const& event, Outbox& out) override;
    DigestChain digest() const override { return digest_; }
    void state(StateStream& stream) override;

    bool finished() const { return compute_.layer == plan_->layers().size() && communication_.layer == compute_.layer; }
    Time finished_at() const { return finished_at_; }
    RankId rank() const { return rank_; }
    // "rank 5 waits in combine of layer 7, micro-batch 0": for the report of a run that could not finish.
    std::string waiting_for() const;

  private:
    enum OwnEvent : std::uint16_t { compute_done = 1 };
    struct Stream {
        std::uint16_t layer = 0, op = 0;  // next or current operation
        bool busy = false;
        Time since;  // start of the current operation
    };

    void advance(Time now, Outbox& out);
    bool ready(StepOp op) const;
    void start_compute(Time now, Outbox& out);
    void start_exchange(Time now, Outbox& out);
    void end_compute(Time now);
    void end_exchange(Time now);
    static void next_op(Stream& stream, std::size_t ops_in_layer);
    void skip_silent_layers();
    void record(Stream const& stream, StepOp op, Time end, Time wait, Time exposed);
    Time computed_until(Time now) const;
    StepPlan::Layer const& layer_of(Stream const& stream) const { return plan_->layers()[stream.layer]; }
    StepOp compute_op() const { return plan_->compute(layer_of(compute_))[compute_.op]; }
    StepOp communication_op() const { return plan_->communication(layer_of(communication_))[communication_.op]; }

    RankId rank_;
    std::uint32_t group_;
    StepPlan const* plan_;
    std::span<LpId const> carriers_;
    std::uint32_t parts_;
    TimelineSink* sink_;

    Stream compute_, communication_;
    // Per micro-batch: how many layers have passed each stage (a dense layer passes all at once).
    std::array<std::uint16_t, most_microbatches> gated_{}, dispatched_{}, expert_done_{}, layer_done_{};
    std::array<std::uint32_t, most_microbatches> messages_{}, active_{};  // from the last dispatch
    std::uint32_t parts_missing_ = 0;  // carriers that have not ended the current exchange
    Time last_peer_start_;
    Time computed_;           // total length of ended compute operations
    Time computed_at_start_;  // computed_until() when the current exchange started
    Time finished_at_;
    std::uint32_t sequence_ = 0;
    DigestChain digest_;
};

}  // namespace orrery
