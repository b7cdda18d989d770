// SPDX-License-Identifier: Apache-2.0
// For tests of schedules: one of them on a fabric, run to its end on construction.
#pragma once

#include "core/window_loop.hpp"
#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/exchange/domains_crossed.hpp"
#include "netmodels/exchange/messages.hpp"
#include "netmodels/flow/flow_engine.hpp"
#include "netmodels/packet/packet_engine.hpp"
#include "tests/collected_rows.hpp"
#include "tests/netmodels/topology_testing.hpp"
#include "workloads/collectives/collective_domain.hpp"
#include "workloads/schedule/schedule_rank.hpp"
#include "workloads/schedule/schedule_world.hpp"

#include <memory>
#include <vector>

namespace orrery::testing {

// Everybody in one collective.
inline StoredSchedule one_collective(std::uint32_t ranks, CollectiveSpec spec) {
    StoredSchedule schedule(ranks);
    schedule.groups.emplace_back();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        schedule.groups[0].push_back(rank);
        ProgramBuilder builder;
        builder.add({.kind = TaskKind::collective, .peer = 0});
        schedule.programs[rank] = builder.build();
    }
    schedule.collectives = {std::move(spec)};
    return schedule;
}

enum class Engine { flow, analytic, packet };

class OneSchedule final : private CollectiveSource {
  public:
    OneSchedule(scenario::FabricSpec const& spec, StoredSchedule schedule, Engine engine = Engine::flow)
        : schedule_(std::move(schedule)), fabric_(make_fabric(spec, 1)), map_(*fabric_) {
        for (std::uint32_t rank = 0; rank < schedule_.ranks(); ++rank) place_.emplace_back(rank);
        for (auto const& group : schedule_.groups) {
            std::vector<RankId> ranks;
            for (auto const rank : group) ranks.emplace_back(rank);
            group_domains_.push_back(domains_crossed(*fabric_, ranks));
        }
        for (std::uint32_t d = 0; d < fabric_->domain_count(); ++d) domain_lps_.emplace_back(schedule_.ranks() + d);
        auto ahead = least_route_latency(*fabric_);
        for (auto const& link : fabric_->links())
            if (engine == Engine::packet) ahead = std::min(ahead, Time::from_ps(link.latency.ps() / 2));
        auto const timing = MessageTiming::make({.known_ahead = ahead, .many_domains = fabric_->domain_count() > 1});
        CollectiveBook book({.source = this,
                             .planner = &planner_,
                             .fabric = fabric_.get(),
                             .place = place_,
                             .domain_lps = domain_lps_});
        ScheduleWorld const world{.schedule = &schedule_,
                                  .fabric = fabric_.get(),
                                  .place = place_,
                                  .domain_lps = domain_lps_,
                                  .timing = timing,
                                  .collectives = &book};
        std::vector<std::unique_ptr<ScheduleRank>> ranks;
        std::vector<std::unique_ptr<DomainLp>> domains;
        std::vector<LocalLp> local;
        for (std::uint32_t rank = 0; rank < schedule_.ranks(); ++rank) {
            ranks.push_back(std::make_unique<ScheduleRank>(rank, world, rows));
            local.push_back({LpId{rank}, ranks.back().get()});
        }
        auto const bin = Time::from_ps(100'000'000);
        for (std::uint32_t d = 0; d < fabric_->domain_count(); ++d) {
            std::unique_ptr<TransferEngine> made;
            if (engine == Engine::flow)
                made = std::make_unique<FlowEngine>(*fabric_, map_, DomainId{d}, FlowEngine::Settings{}, bin);
            else if (engine == Engine::analytic)
                made = std::make_unique<AnalyticEngine>(*fabric_, map_, DomainId{d}, bin);
            else
                made = std::make_unique<PacketEngine>(*fabric_, map_, DomainId{d}, PacketSettings{.prompt = true});
            domains.push_back(std::make_unique<DomainLp>(DomainId{d}, *fabric_, map_, std::move(made), rows));
            domains.back()->add<MessageDomain>(place_, timing);
            domains.back()->add<CollectiveDomain>(domain_lps_[d], book, timing);
            local.push_back({domain_lps_[d], domains.back().get()});
        }
        std::vector<std::uint32_t> const owner(local.size(), 0);
        LocalExchange alone;
        WindowLoop loop({.lookahead = timing.lookahead}, local, owner, alone);
        loop.run();
        for (auto const& rank : ranks) {
            finished.push_back(rank->finished());
            last = std::max(last, rank->finished_at());
        }
        for (auto const& domain : domains) transfers.add(domain->counters());
    }

    std::vector<bool> finished;  // by rank
    Time last;
    TransferCounters transfers;
    CollectedRows rows;

  private:
    std::uint32_t group_of(std::uint32_t collective) const override { return schedule_.collective(collective).group; }
    CollectiveWish wish(std::uint32_t collective) const override { return wish_of(schedule_.collective(collective)); }
    std::span<std::uint32_t const> members(std::uint32_t group) const override { return schedule_.group(group); }
    std::span<DomainId const> domains_of(std::uint32_t group) const override { return group_domains_[group]; }

    StoredSchedule schedule_;
    std::unique_ptr<Fabric> fabric_;
    FabricPlanner planner_{*fabric_};
    DomainMap map_;
    std::vector<RankId> place_;
    std::vector<LpId> domain_lps_;
    std::vector<std::vector<DomainId>> group_domains_;
};

}  // namespace orrery::testing
