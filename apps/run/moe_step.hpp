// SPDX-License-Identifier: Apache-2.0
// One step of a mixture-of-experts model as a workload: what its ranks compute and exchange, and what that costs.
#pragma once

#include "apps/run/workload.hpp"
#include "netmodels/exchange/layout.hpp"
#include "workloads/devices/ffn_price.hpp"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/matrix_builder.hpp"
#include "workloads/programs/step_plan.hpp"

namespace orrery {

class MoeStep final : public Workload {
  public:
    // Appends to `problems` what is wrong with the scenario; then only the destructor may follow. The rest outlives it.
    MoeStep(LoadedScenario const& loaded, Fabric const& fabric, std::vector<std::string>& problems);

    ModelConfig const& model() const { return model_; }
    Device const& device() const { return device_; }
    RoutingSource const& routing() const { return *routing_; }
    Placement const& placement() const { return *placement_; }
    MatrixBuilder const& matrices() const { return *matrices_; }
    StepPlan const& plan() const { return *plan_; }
    ExchangePlan const& exchange(OpKind kind) const { return kind == OpKind::dispatch ? dispatch_ : combine_; }
    std::vector<GroupLayout> const& layouts() const { return layouts_; }
    std::uint32_t ep() const { return spec().ep(); }
    std::uint32_t groups() const { return spec().ep_groups(); }
    RankId first_rank() const { return RankId{spec().first_rank()}; }
    std::uint32_t tokens_per_microbatch() const { return tokens_per_microbatch_; }

    std::uint32_t ranks() const override { return ep() * groups(); }
    RankId place(std::uint32_t rank) const override { return RankId{first_rank().value() + rank}; }
    void lay_out() override;
    std::vector<DomainId> domains() const override;
    std::unique_ptr<SiteMap> make_sites() const override;
    Delay least_delay(Job const& job) override;
    std::int64_t expected_flows() const override { return flows_per_exchange() * exchanges(); }
    Estimate estimate(Job const& job) const override;
    std::int64_t operations() const override {
        return static_cast<std::int64_t>(ranks()) * plan_->operations_per_rank();
    }
    void add_to_graph(Job const& job, LpGraph& graph) const override;
    std::unique_ptr<WorkloadRun> make_run(Wiring wiring) const override;
    std::string title() const override { return model_.name; }
    std::string description() const override;
    std::string end_rows_text(Detail detail) const override;
    std::vector<ManifestEntry> manifest() const override;
    std::optional<OpPrice> price(OpKind kind) const override;
    std::string formula(OpKind communication) const override;
    std::vector<std::string> ignored() const override;
    std::vector<std::string> warnings() const override { return warnings_; }

  private:
    scenario::WorkloadSpec const& spec() const { return loaded_->scenario.workload(); }
    void check_slots() const;
    void check_shape(std::vector<std::string>& problems) const;
    void price_layers();
    void place_experts();
    void plan_step();
    std::vector<StepPlan::Layer> layers() const;
    std::int64_t flows_per_exchange() const;
    // Of one rank: a dispatch and a combine per MoE layer and micro-batch.
    std::int64_t exchanges() const;
    OpPrice attention_price() const;
    void add_domains_to_graph(Job const& job, LpGraph& graph) const;
    void add_sites_to_graph(Job const& job, LpGraph& graph) const;

    LoadedScenario const* loaded_;
    Fabric const* fabric_;
    ModelConfig model_;
    Device device_;
    std::unique_ptr<RoutingSource> routing_;
    std::optional<Placement> placement_;
    std::optional<MatrixBuilder> matrices_;
    std::optional<ExpertPricer> expert_pricer_;
    std::optional<StepPlan> plan_;
    struct Prices {
        OpPrice attention, linear_attention, gate, shared_expert, dense_ffn;
    };
    Prices prices_;
    bool local_shared_ = false;
    ExchangePlan dispatch_, combine_;
    std::uint32_t tokens_per_microbatch_ = 0;
    std::vector<GroupLayout> layouts_;
    std::vector<std::string> warnings_;
};

}  // namespace orrery
