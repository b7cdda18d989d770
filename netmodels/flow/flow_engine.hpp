// SPDX-License-Identifier: Apache-2.0
// The flow model of one domain: transfers share bundles max-min fairly, see docs/flow-model.md.
#pragma once

#include "netmodels/exchange/link_meter.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/flow/coalescer.hpp"
#include "netmodels/flow/folded_flows.hpp"
#include "netmodels/flow/lone_flows.hpp"
#include "netmodels/flow/max_min_kernel.hpp"
#include "netmodels/flow/slow_start.hpp"
#include "netmodels/topology/fabric.hpp"

namespace orrery {

// Transfers that begin at one instant on idle links are folded where they are alike, and unfolded when others join
// them; those that meet nobody on their links need no solver until they do. That changes no result. With an error of
// zero shares are made anew at every start and finish: exact. Otherwise a little later (coalescer.hpp).
class FlowEngine final : public TransferEngine, private MaxMinKernel::LoadObserver {
  public:
    struct Settings {
        std::int64_t error_ppm = 0;
        std::int64_t initial_window_bytes = 0;  // zero: no slow start
        Time round_trip = Time::from_ps(4'000'000);
        std::span<CapacityChange const> timetable;  // of the whole fabric, in order of time; outlives the engine
    };
    FlowEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Settings const& settings, Time bin_width);

    std::uint32_t open_engine(Rate rate) override { return kernel_.open_link(rate); }
    void close_engine(std::uint32_t engine) override { kernel_.close_link(engine); }
    void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
               std::int64_t wire_bytes, std::uint64_t cookie) override;
    void settle(Time now) override;
    Time next() const override;
    void advance(Time now, std::vector<TransferDone>& done) override;
    LinkTraffic& traffic() override { return meter_; }
    std::vector<std::uint64_t> starved() const override;
    Figures figures() const override;
    void state(StateStream& stream) override;
    // Whether transfers may be folded, or kept out of the solver while they are alone: on, unless a test compares with
    // what they give one by one.
    enum class Folds : std::uint8_t { yes, no };
    void allow_folding(Folds folds) { folds_ = folds; }

  private:
    void take_offers(Time now);
    void separate_lone_flows(Time now);
    void follow_timetable(Time now);
    Rate narrowest(OfferedFlows::Flow const& flow) const;
    MaxMinKernel& solver() { return folded_ ? folded_->kernel() : kernel_; }
    MaxMinKernel const& solver() const { return folded_ ? folded_->kernel() : kernel_; }
    void share(Time now);
    void load_changes(std::uint32_t link, Time now, std::int64_t load) override;

    DomainMap const* map_;
    std::span<BundleId const> bundles_;
    std::vector<std::uint8_t> binds_;  // per local bundle: may it ever be a bottleneck?
    std::vector<Rate> capacity_;       // per local bundle
    MaxMinKernel kernel_;
    LinkMeter meter_;
    Coalescer coalescer_;
    SlowStart slow_start_;
    struct Change {
        Time at;
        std::uint32_t bundle;  // local
        Rate capacity;
    };
    std::vector<Change> timetable_;
    std::size_t next_change_ = 0;
    bool links_changed_ = false;  // since the last settle
    Folds folds_ = Folds::yes;
    OfferedFlows offers_;  // since the last settle
    std::unique_ptr<FoldedFlows> folded_;
    mutable LoneFlows lone_{*this};          // asked for its next end, it forgets what was given away
    std::vector<std::uint32_t> offered_on_;  // per link: offers of this instant; scratch, zero in between
    std::vector<std::uint32_t> met_;         // where it is not zero
    std::int64_t transfers_ = 0, most_transfers_ = 0, shares_ = 0;
    Time pending_settle_ = Time::infinity();
    std::vector<MaxMinKernel::Completion> completions_;
};

}  // namespace orrery
