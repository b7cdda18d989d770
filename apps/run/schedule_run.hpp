// SPDX-License-Identifier: Apache-2.0
// One process's part of a schedule: its ranks, and the messages and collectives of its domains.
#pragma once

#include "apps/run/schedule_workload.hpp"
#include "netmodels/exchange/messages.hpp"
#include "workloads/collectives/collective_domain.hpp"
#include "workloads/schedule/schedule_rank.hpp"

#include <memory>
#include <vector>

namespace orrery {

class ScheduleRun final : public WorkloadRun {
  public:
    ScheduleRun(ScheduleWorkload const& workload, Workload::Wiring wiring);

    LogicalProcess& add_rank(std::uint32_t rank) override;
    void add_protocols(DomainLp& domain) override;
    ExchangeSite& add_site(SiteId site) override;
    void emit_totals() override {}
    void add_to(RunShare& share) const override;
    std::vector<std::string> stuck_transfers() const override;
    std::vector<std::string> waiting_ranks(std::size_t most) const override;

  private:
    ScheduleWorkload const* workload_;
    Job const* job_;
    TimelineSink* sink_;
    std::vector<LpId> domain_lps_;  // per domain of the fabric
    CollectiveBook book_;
    ScheduleWorld world_;
    std::vector<std::unique_ptr<ScheduleRank>> ranks_;
    std::vector<MessageDomain*> messages_;        // of the domains
    std::vector<CollectiveDomain*> collectives_;  // likewise
};

}  // namespace orrery
