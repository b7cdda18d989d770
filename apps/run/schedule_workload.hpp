// SPDX-License-Identifier: Apache-2.0
// Schedules as a workload: tasks, messages and collectives of ranks, read from files.
#pragma once

#include "apps/run/workload.hpp"
#include "netmodels/exchange/message_timing.hpp"
#include "workloads/collectives/collective_book.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/schedule/placed_schedule.hpp"

#include <memory>
#include <string>
#include <vector>

namespace orrery {

class ScheduleWorkload final : public Workload, public CollectiveSource {
  public:
    // Reads the files that the scenario names. Appends to `problems` what is wrong with it; then only the destructor
    // may follow. The rest outlives it.
    ScheduleWorkload(LoadedScenario const& loaded, Fabric const& fabric, std::vector<std::string>& problems);
    // A schedule made elsewhere, on these fabric ranks.
    ScheduleWorkload(LoadedScenario const& loaded, Fabric const& fabric, std::vector<PlacedSchedule::Part> parts);

    Schedule const& schedule() const { return *schedule_; }
    std::span<RankId const> placement() const { return schedule_->place(); }
    MessageTiming const& timing() const { return timing_; }
    CollectivePlanner const& planner() const { return *planner_; }

    std::uint32_t ranks() const override { return schedule_->ranks(); }
    RankId place(std::uint32_t rank) const override { return schedule_->place()[rank]; }
    void lay_out() override;
    std::vector<DomainId> domains() const override { return domains_; }
    Delay least_delay(Job const& job) override;
    std::int64_t expected_flows() const override { return flows_; }
    Estimate estimate(Job const& job) const override;
    std::int64_t operations() const override { return tasks_; }
    void add_to_graph(Job const& job, LpGraph& graph) const override;
    std::unique_ptr<WorkloadRun> make_run(Wiring wiring) const override;
    std::string title() const override;
    std::string description() const override;
    std::string end_rows_text(Detail) const override { return {}; }
    std::vector<ManifestEntry> manifest() const override;
    std::optional<OpPrice> price(OpKind kind) const override;
    std::string formula(OpKind communication) const override;
    std::vector<std::string> warnings() const override { return notes_; }

    std::uint32_t group_of(std::uint32_t collective) const override {
        return schedule_->held_collective(collective).group;
    }
    CollectiveWish wish(std::uint32_t collective) const override;
    std::span<std::uint32_t const> members(std::uint32_t group) const override { return schedule_->group(group); }
    std::span<DomainId const> domains_of(std::uint32_t group) const override { return group_domains_[group]; }

  private:
    struct Placing {
        std::uint32_t first_rank = 0, stride = 1;
    };
    void read(std::string const& where, std::string const& file, Placing placing, scenario::ImportSpec const& spec,
              std::vector<PlacedSchedule::Part>& parts);
    ImportOptions import_options(scenario::ImportSpec const& spec, Placing placing) const;
    void count_programs();
    void count_collectives();

    LoadedScenario const* loaded_;
    Fabric const* fabric_;
    std::unique_ptr<PlacedSchedule> schedule_;
    std::unique_ptr<CollectivePlanner> planner_;
    std::vector<std::string> formats_, notes_;
    std::vector<DomainId> domains_;
    std::vector<std::int64_t> rank_weight_;  // events of each rank
    struct Traffic {
        std::uint32_t rank = 0;
        DomainId domain;
        std::int64_t events = 0;
    };
    std::vector<Traffic> traffic_;  // of each rank in each domain
    std::vector<std::vector<DomainId>> group_domains_;
    std::int64_t tasks_ = 0, flows_ = 0, messages_ = 0, most_at_once_ = 0;
    MessageTiming timing_;
};

}  // namespace orrery
