// SPDX-License-Identifier: Apache-2.0
// Everything a run is made of, built from the scenario alone and alike on every process.
#pragma once

#include "apps/run/workload.hpp"
#include "core/lp.hpp"
#include "io/scenario/load.hpp"
#include "netmodels/exchange/site_map.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/packet_settings.hpp"
#include "netmodels/topology/fabric.hpp"
#include "partitions/partition.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

class MoeStep;

class Job {
  public:
    // Checks everything that needs the model or the fabric; throws one InputError that lists every problem.
    explicit Job(LoadedScenario loaded);
    Job(Job const&) = delete;
    Job& operator=(Job const&) = delete;

    scenario::Scenario const& scenario() const { return loaded_.scenario; }
    LoadedScenario const& loaded() const { return loaded_; }
    Fabric const& fabric() const { return *fabric_; }
    DomainMap const& domain_map() const { return *domain_map_; }
    Workload const& workload() const { return *workload_; }
    // The workload of a scenario whose workload.kind is moe_step.
    MoeStep const& moe_step() const;

    std::uint32_t ranks() const { return workload_->ranks(); }

    // LPs: simulated ranks first, then what carries their traffic: the domains, ascending, or their sites.
    std::uint32_t lp_count() const { return ranks() + carriers(); }
    std::vector<DomainId> const& domains() const { return domains_; }
    // Null: sharing is exact.
    SiteMap const* sites() const { return sites_.get(); }
    LpId lp_of(SiteId site) const { return LpId{ranks() + site.value()}; }
    LpId lp_of(DomainId domain) const { return domain_lp_.at(domain); }
    std::string lp_name(LpId lp) const;
    LpGraph const& graph() const { return graph_; }

    // The least time between a cause on one LP and its effect on another, and where it comes from.
    Time lookahead() const { return lookahead_; }
    std::string const& lookahead_reason() const { return lookahead_reason_; }
    PacketSettings const& packet_settings() const { return packet_; }
    // The packet model tells the end of a transfer at most so long after its last packet has left its sender.
    Time packet_notice() const;
    // Bundles whose capacity changes while the run goes on.
    std::span<CapacityChange const> timetable() const { return timetable_; }
    // How far shares may lag behind finishes, in millionths; zero: exact.
    std::int64_t flow_error_ppm() const { return flow_error_ppm_; }
    std::string const& sharing_text() const { return sharing_text_; }
    // Zero: sites share at every start, finish and notice; otherwise at multiples of it.
    Time site_epoch() const;
    std::string const& solvers_text() const { return solvers_text_; }
    // How much simulated time passes at most between the time of a row and the moment at which it is written.
    Time row_delay() const;
    // "flow, exact shares, one solver per plane": for people.
    std::string network_text() const;

    // Links that each fabric.degrade entry matched, and the bundles they belong to.
    struct DegradeEffect {
        std::string where, pattern;
        std::int64_t links = 0;
        bool changes_nothing = false;
        std::vector<BundleId> bundles;
    };
    std::vector<DegradeEffect> const& degradations() const { return degradations_; }
    std::vector<std::string> const& warnings() const { return warnings_; }

    using Estimate = Workload::Estimate;
    Estimate estimate() const;
    // "from rank 3 to rank 5 over host3.up host5.down": for people.
    std::string way_text(RankId source, RankId target) const;

  private:
    void build_fabric();
    void degrade_fabric();
    void build_workload(std::vector<std::string>& problems);
    void number_carriers();
    void choose_sharing();
    void choose_lookahead();
    void choose_error();
    void build_graph();
    std::uint32_t carriers() const { return sites_ ? sites_->count() : static_cast<std::uint32_t>(domains_.size()); }

    LoadedScenario loaded_;
    std::unique_ptr<Fabric> fabric_;
    std::unique_ptr<DomainMap> domain_map_;
    std::unique_ptr<Workload> workload_;
    std::vector<DomainId> domains_;
    std::map<DomainId, LpId> domain_lp_;
    std::unique_ptr<SiteMap> sites_;
    LpGraph graph_;
    Time lookahead_;
    std::vector<CapacityChange> timetable_;
    std::int64_t flow_error_ppm_ = 0;
    PacketSettings packet_;
    std::string lookahead_reason_, sharing_text_, solvers_text_;
    std::vector<DegradeEffect> degradations_;
    std::vector<std::string> warnings_;
};

}  // namespace orrery
