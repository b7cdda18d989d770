// SPDX-License-Identifier: Apache-2.0
// The flow model of one domain: transfers share bundles max-min fairly, see docs/flow-model.md.
#pragma once

#include "netmodels/exchange/link_meter.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

namespace orrery {

// With a zero epoch shares are exact at every start and finish. Otherwise they change only at multiples of the epoch:
// a transfer begins, and the share of one that ended is passed on, at most one epoch late.
class FlowEngine final : public TransferEngine, private MaxMinKernel::LoadObserver {
  public:
    FlowEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Time epoch, Time bin_width);

    std::uint32_t open_engine(Rate rate) override { return kernel_.open_link(rate); }
    void close_engine(std::uint32_t engine) override { kernel_.close_link(engine); }
    void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
               std::int64_t wire_bytes, std::uint64_t cookie) override;
    void settle(Time now) override;
    Time next() const override;
    void advance(Time now, std::vector<TransferDone>& done) override;
    LinkTraffic& traffic() override { return meter_; }
    std::vector<std::uint64_t> starved() const override { return kernel_.starved(); }
    MaxMinKernel const& kernel() const { return kernel_; }

  private:
    void load_changes(std::uint32_t link, Time now, std::int64_t load) override;

    DomainMap const* map_;
    std::span<BundleId const> bundles_;
    std::vector<std::uint8_t> binds_;  // per local bundle: may it ever be a bottleneck?
    std::vector<Rate> capacity_;       // per local bundle
    MaxMinKernel kernel_;
    LinkMeter meter_;
    Time epoch_;
    Time pending_settle_ = Time::infinity();
    std::vector<MaxMinKernel::Completion> completions_;
};

}  // namespace orrery
