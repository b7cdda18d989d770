// SPDX-License-Identifier: Apache-2.0
// Everything a run is made of, built from the scenario alone and alike on every process.
#pragma once

#include "core/lp.hpp"
#include "io/scenario/load.hpp"
#include "netmodels/exchange/layout.hpp"
#include "netmodels/exchange/site_map.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/packet_settings.hpp"
#include "netmodels/topology/fabric.hpp"
#include "partitions/partition.hpp"
#include "workloads/devices/device.hpp"
#include "workloads/devices/ffn_price.hpp"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/matrix_builder.hpp"
#include "workloads/programs/step_plan.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

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
    ModelConfig const& model() const { return model_; }
    Device const& device() const { return device_; }
    RoutingSource const& routing() const { return *routing_; }
    Placement const& placement() const { return *placement_; }
    MatrixBuilder const& matrices() const { return *matrices_; }
    StepPlan const& plan() const { return *plan_; }
    ExchangePlan const& exchange(OpKind kind) const { return kind == OpKind::dispatch ? dispatch_ : combine_; }
    std::vector<GroupLayout> const& layouts() const { return layouts_; }

    std::uint32_t ranks() const { return ep() * groups(); }
    std::uint32_t ep() const { return scenario().workload().ep(); }
    std::uint32_t groups() const { return scenario().workload().ep_groups(); }
    RankId first_rank() const { return RankId{scenario().workload().first_rank()}; }
    std::uint32_t tokens_per_microbatch() const { return tokens_per_microbatch_; }

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

    struct Prices {
        OpPrice attention, linear_attention, gate, shared_expert, dense_ffn;
    };
    Prices const& prices() const { return prices_; }
    ExpertPricer const& expert_pricer() const { return *expert_pricer_; }

    // Links that each fabric.degrade entry matched, and the bundles they belong to.
    struct DegradeEffect {
        std::string where, pattern;
        std::int64_t links = 0;
        bool changes_nothing = false;
        std::vector<BundleId> bundles;
    };
    std::vector<DegradeEffect> const& degradations() const { return degradations_; }
    std::vector<std::string> const& warnings() const { return warnings_; }

    struct Estimate {
        std::int64_t flows = 0, events = 0, operation_rows = 0, memory_bytes = 0;
        std::int64_t flows_at_once = 0, flow_bytes = 0;  // transfers on their way together; each in the solver's memory
        std::int64_t flow_links = 0, flow_link_bytes = 0;  // the same for links
        std::int64_t solver_bytes() const { return flows_at_once * flow_bytes + flow_links * flow_link_bytes; }
    };
    Estimate estimate() const;

  private:
    void build_fabric();
    void degrade_fabric();
    void check_slots() const;
    void check_shape(std::vector<std::string>& problems) const;
    void build_workload();
    void build_exchange();
    void choose_sharing();
    void choose_lookahead();
    void choose_error();
    void build_graph();
    Time packet_notice() const;
    void add_domains_to_graph(std::int64_t exchanges);
    void add_sites_to_graph(std::int64_t exchanges);
    std::uint32_t carriers() const { return sites_ ? sites_->count() : static_cast<std::uint32_t>(domains_.size()); }
    std::vector<StepPlan::Layer> layers() const;

    LoadedScenario loaded_;
    std::unique_ptr<Fabric> fabric_;
    std::unique_ptr<DomainMap> domain_map_;
    ModelConfig model_;
    Device device_;
    std::unique_ptr<RoutingSource> routing_;
    std::optional<Placement> placement_;
    std::optional<MatrixBuilder> matrices_;
    std::optional<ExpertPricer> expert_pricer_;
    std::optional<StepPlan> plan_;
    Prices prices_;
    ExchangePlan dispatch_, combine_;
    std::uint32_t tokens_per_microbatch_ = 0;
    std::vector<GroupLayout> layouts_;
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
