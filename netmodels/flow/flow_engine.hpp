// SPDX-License-Identifier: Apache-2.0
// The flow model of one domain: transfers share bundles max-min fairly, see docs/flow-model.md.
#pragma once

#include "netmodels/exchange/link_meter.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/flow/coalescer.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

namespace orrery {

// With an error of zero shares are made anew at every start and finish: exact. Otherwise a little later (coalescer.hpp).
class FlowEngine final : public TransferEngine, private MaxMinKernel::LoadObserver {
  public:
    FlowEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, std::int64_t error_ppm,
               Time bin_width);

    std::uint32_t open_engine(Rate rate) override { return kernel_.open_link(rate); }
    void close_engine(std::uint32_t engine) override { kernel_.close_link(engine); }
    void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
               std::int64_t wire_bytes, std::uint64_t cookie) override;
    void settle(Time now) override;
    Time next() const override;
    void advance(Time now, std::vector<TransferDone>& done) override;
    LinkTraffic& traffic() override { return meter_; }
    std::vector<std::uint64_t> starved() const override { return kernel_.starved(); }
    Figures figures() const override;
    MaxMinKernel const& kernel() const { return kernel_; }

  private:
    void share(Time now);
    void load_changes(std::uint32_t link, Time now, std::int64_t load) override;

    DomainMap const* map_;
    std::span<BundleId const> bundles_;
    std::vector<std::uint8_t> binds_;  // per local bundle: may it ever be a bottleneck?
    std::vector<Rate> capacity_;       // per local bundle
    MaxMinKernel kernel_;
    LinkMeter meter_;
    Coalescer coalescer_;
    std::int64_t most_transfers_ = 0;
    Time pending_settle_ = Time::infinity();
    std::vector<MaxMinKernel::Completion> completions_;
};

}  // namespace orrery
