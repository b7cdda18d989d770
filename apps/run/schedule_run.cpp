// SPDX-License-Identifier: Apache-2.0
#include "apps/run/schedule_run.hpp"

#include "apps/run/job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

std::vector<LpId> domain_lps(Job const& job) {
    std::vector<LpId> lps(job.fabric().domain_count());
    for (auto const domain : job.domains()) lps[domain.index()] = job.lp_of(domain);
    return lps;
}

}  // namespace

ScheduleRun::ScheduleRun(ScheduleWorkload const& workload, Workload::Wiring wiring)
    : workload_(&workload),
      job_(wiring.job),
      sink_(wiring.sink),
      domain_lps_(domain_lps(*wiring.job)),
      book_({.source = &workload,
             .planner = &workload.planner(),
             .fabric = &wiring.job->fabric(),
             .place = workload.placement(),
             .domain_lps = domain_lps_}),
      world_{.schedule = &workload.schedule(),
             .fabric = &wiring.job->fabric(),
             .place = workload.placement(),
             .domain_lps = domain_lps_,
             .timing = workload.timing(),
             .collectives = &book_} {}

LogicalProcess& ScheduleRun::add_rank(std::uint32_t rank) {
    ranks_.push_back(std::make_unique<ScheduleRank>(rank, world_, *sink_));
    return *ranks_.back();
}

void ScheduleRun::add_protocols(DomainLp& domain) {
    messages_.push_back(&domain.add<MessageDomain>(workload_->placement(), workload_->timing()));
    collectives_.push_back(
        &domain.add<CollectiveDomain>(domain_lps_[domain.domain().index()], book_, workload_->timing()));
}

ExchangeSite& ScheduleRun::add_site(SiteId site) {
    throw InternalError(fmt::format("site {} of a schedule, which has none", site.value()));
}

void ScheduleRun::add_to(RunShare& share) const {
    for (auto const& rank : ranks_) {
        share.digest.add(rank->rank(), rank->digest());
        share.unfinished_ranks += rank->finished() ? 0 : 1;
        share.last_finish = std::max(share.last_finish, rank->finished_at());
    }
}

std::vector<std::string> ScheduleRun::stuck_transfers() const {
    std::vector<std::string> lines;
    for (auto const* messages : messages_) {
        auto const starved = messages->starved();
        if (starved.empty()) continue;
        auto const& first = starved.front();
        lines.push_back(fmt::format("{} messages cannot move, the first {}", starved.size(),
                                    job_->way_text(workload_->place(first.source), workload_->place(first.target))));
    }
    for (auto const* collectives : collectives_)
        for (auto& line : collectives->stuck()) lines.push_back(std::move(line));
    return lines;
}

std::vector<std::string> ScheduleRun::waiting_ranks(std::size_t most) const {
    std::vector<std::string> lines;
    for (auto const& rank : ranks_)
        if (!rank->finished() && lines.size() < most) lines.push_back(rank->waiting_for());
    return lines;
}

}  // namespace orrery
