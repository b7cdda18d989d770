// SPDX-License-Identifier: Apache-2.0
// One process's part of a MoE step: its ranks, and the exchanges of its domains or sites.
#pragma once

#include "apps/run/moe_step.hpp"
#include "netmodels/exchange/exchange_domain.hpp"
#include "workloads/programs/moe_rank.hpp"
#include "workloads/programs/moe_traffic.hpp"

#include <memory>
#include <span>
#include <vector>

namespace orrery {

class MoeStepRun final : public WorkloadRun {
  public:
    MoeStepRun(MoeStep const& step, Workload::Wiring wiring);

    LogicalProcess& add_rank(std::uint32_t rank) override;
    void add_protocols(DomainLp& domain) override;
    ExchangeSite& add_site(SiteId site) override;
    void emit_totals() override;
    void add_to(RunShare& share) const override;
    std::vector<std::string> stuck_transfers() const override;
    std::vector<std::string> waiting_ranks(std::size_t most) const override;

  private:
    MoeTraffic make_traffic() const;
    CountPairs pairs() const;
    std::vector<StuckExchange> stuck() const;

    MoeStep const* step_;
    Job const* job_;
    TimelineSink* sink_;
    MoeTraffic traffic_;
    // Of all ranks of this process, flat; spans of it are handed to them.
    struct Carriers {
        std::uint32_t rank = 0, parts = 0;
        std::size_t first = 0, end = 0;
    };
    std::vector<LpId> carrier_lps_;
    std::vector<Carriers> carriers_;
    std::vector<std::unique_ptr<MoeRank>> ranks_;
    std::vector<ExchangeDomain*> exchanges_;  // of the domains
    std::vector<std::unique_ptr<ExchangeSite>> sites_;
};

}  // namespace orrery
