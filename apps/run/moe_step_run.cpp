// SPDX-License-Identifier: Apache-2.0
#include "apps/run/moe_step_run.hpp"

#include "apps/run/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

MoeStepRun::MoeStepRun(MoeStep const& step, Workload::Wiring wiring)
    : step_(&step), job_(wiring.job), sink_(wiring.sink), traffic_(make_traffic()) {
    for (std::uint32_t r = 0; r < step.ranks(); ++r) {
        if (!wiring.mine(LpId{r})) continue;
        auto const group = r / step.ep();
        auto const domains = step.layouts()[group].domains_of(r % step.ep());
        Carriers carriers{.rank = r, .parts = static_cast<std::uint32_t>(domains.size()), .first = carrier_lps_.size()};
        for (auto const domain : domains) {
            if (!job_->sites())
                carrier_lps_.push_back(job_->lp_of(domain));
            else
                for (auto const site : job_->sites()->concerned(group, domain))
                    carrier_lps_.push_back(job_->lp_of(site));
        }
        carriers.end = carrier_lps_.size();
        carriers_.push_back(carriers);
    }
}

MoeTraffic MoeStepRun::make_traffic() const {
    MoeTraffic::Settings settings{.ep = step_->ep(),
                                  .groups = step_->groups(),
                                  .first_rank = step_->first_rank(),
                                  .dispatch = step_->exchange(OpKind::dispatch),
                                  .combine = step_->exchange(OpKind::combine),
                                  .moe_layers = {},
                                  .load_counter = std::vector<std::uint32_t>(step_->groups())};
    for (auto const& layer : step_->plan().layers())
        if (layer.moe) settings.moe_layers.push_back(layer.model_layer);
    for (std::uint32_t group = 0; group < step_->groups(); ++group) {
        auto const domain = step_->layouts()[group].parts().front().domain;
        settings.load_counter[group] =
            job_->sites() ? job_->sites()->concerned(group, domain).front().value() : domain.value();
    }
    return {std::move(settings), step_->matrices(), step_->placement()};
}

LogicalProcess& MoeStepRun::add_rank(std::uint32_t rank) {
    auto const& [r, parts, first, end] = carriers_[ranks_.size()];
    ORRERY_ENSURE(r == rank, "rank {} is built in the place of rank {}", rank, r);
    ranks_.push_back(std::make_unique<MoeRank>(step_->place(rank), rank / step_->ep(), step_->plan(),
                                               std::span<LpId const>{carrier_lps_}.subspan(first, end - first), parts,
                                               *sink_));
    return *ranks_.back();
}

CountPairs MoeStepRun::pairs() const {
    return job_->scenario().output().detail() == "full" ? CountPairs::yes : CountPairs::no;
}

void MoeStepRun::add_protocols(DomainLp& domain) {
    exchanges_.push_back(&domain.add<ExchangeDomain>(step_->layouts(), traffic_, step_->first_rank(), pairs()));
}

ExchangeSite& MoeStepRun::add_site(SiteId site) {
    ExchangeSite::Setup const setup{
        .fabric = &job_->fabric(),
        .map = job_->sites(),
        .layouts = &step_->layouts(),
        .traffic = &traffic_,
        .sink = sink_,
        .first_rank = step_->first_rank(),
        .first_site = job_->lp_of(SiteId{0}),
        .pairs = pairs(),
        .epoch = job_->site_epoch(),
        .bin_width = Time::from_ps(job_->scenario().output().link_bin()),
        .lookahead = job_->lookahead(),
        .finish = std::min(step_->exchange(OpKind::dispatch).finish, step_->exchange(OpKind::combine).finish)};
    sites_.push_back(std::make_unique<ExchangeSite>(site, setup));
    return *sites_.back();
}

void MoeStepRun::emit_totals() {
    traffic_.emit_expert_loads(*sink_);
    for (auto const* exchanges : exchanges_) exchanges->emit_pairs(*sink_);
    for (auto const& site : sites_) site->emit_pairs(*sink_);
}

void MoeStepRun::add_to(RunShare& share) const {
    for (auto const& rank : ranks_) {
        share.digest.add(rank->rank().value() - step_->first_rank().value(), rank->digest());
        share.unfinished_ranks += rank->finished() ? 0 : 1;
        share.last_finish = std::max(share.last_finish, rank->finished_at());
    }
    for (auto const& site : sites_) {
        share.digest.add(job_->lp_of(site->site()).value(), site->digest());
        share.transfers.add(site->counters());
        site->add_bundle_bytes(share.bundle_bytes, share.bundle_payload);
    }
    auto const imbalance = traffic_.imbalance();
    share.imbalance = {imbalance.ranks_ppm, imbalance.experts_ppm, imbalance.samples};
}

// One entry per exchange and domain; what the sites of this process know of one is put together.
std::vector<StuckExchange> MoeStepRun::stuck() const {
    std::vector<StuckExchange> all;
    for (auto const* exchanges : exchanges_)
        for (auto& stuck : exchanges->stuck()) all.push_back(std::move(stuck));
    std::map<std::pair<DomainId, ExchangeKey>, StuckExchange> joined;
    for (auto const& site : sites_)
        for (auto const& stuck : site->stuck()) {
            auto& known = joined[{job_->sites()->site(site->site()).domain, stuck.key}];
            known.key = stuck.key;
            known.missing = stuck.missing;  // all sites hear the same posts
            known.waiting.insert(known.waiting.end(), stuck.waiting.begin(), stuck.waiting.end());
            known.starved.insert(known.starved.end(), stuck.starved.begin(), stuck.starved.end());
        }
    for (auto& [where, stuck] : joined) all.push_back(std::move(stuck));
    return all;
}

std::vector<std::string> MoeStepRun::stuck_transfers() const {
    std::vector<std::string> lines;
    for (auto const& stuck : this->stuck()) {
        auto const first = step_->place(stuck.key.group * step_->ep()).value();
        auto line = fmt::format("{} of layer {}, micro-batch {}, group {}:", name_of(stuck.key.kind), stuck.key.layer,
                                stuck.key.microbatch, stuck.key.group);
        if (!stuck.waiting.empty() && !stuck.missing.empty())
            line += fmt::format(" rank {} and {} more wait for rank {}, which has not reached it",
                                first + stuck.waiting.front(), stuck.waiting.size() - 1, first + stuck.missing.front());
        if (!stuck.starved.empty()) {
            auto const [source, target] = stuck.starved.front();
            line += fmt::format(" {} transfers cannot move, the first {}", stuck.starved.size(),
                                job_->way_text(source, target));
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> MoeStepRun::waiting_ranks(std::size_t most) const {
    std::vector<std::string> lines;
    for (auto const& rank : ranks_)
        if (!rank->finished() && lines.size() < most) lines.push_back(rank->waiting_for());
    return lines;
}

}  // namespace orrery
