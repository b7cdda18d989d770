// SPDX-License-Identifier: Apache-2.0
#include "apps/run/simulation.hpp"

#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/flow/flow_engine.hpp"

#include <algorithm>

namespace orrery {

std::unique_ptr<TransferEngine> Simulation::make_engine(DomainId domain) const {
    auto const bin = Time::from_ps(job_->scenario().output().link_bin());
    if (job_->scenario().network().model() == "analytic")
        return std::make_unique<AnalyticEngine>(job_->fabric(), job_->domain_map(), domain, bin);
    auto const& flow = job_->scenario().network().flow();
    return std::make_unique<FlowEngine>(job_->fabric(), job_->domain_map(), domain,
                                        FlowEngine::Settings{.error_ppm = job_->flow_error_ppm(),
                                                             .initial_window_bytes = flow.initial_window(),
                                                             .round_trip = Time::from_ps(flow.round_trip()),
                                                             .timetable = job_->timetable()},
                                        bin);
}

Simulation::Simulation(Job const& job, std::span<std::uint32_t const> owner, Exchange& exchange, TimelineSink& timeline,
                       Options const& options)
    : job_(&job), sink_(timeline) {
    auto const me = exchange.index();
    auto const mine = [&](LpId lp) { return owner[lp.index()] == me; };

    MoeTraffic::Settings settings{.ep = job.ep(),
                                  .groups = job.groups(),
                                  .first_rank = job.first_rank(),
                                  .dispatch = job.exchange(OpKind::dispatch),
                                  .combine = job.exchange(OpKind::combine),
                                  .moe_layers = {},
                                  .local_parts = std::vector<std::uint32_t>(job.groups()),
                                  .counts_loads = std::vector<std::uint8_t>(job.groups())};
    for (auto const& layer : job.plan().layers())
        if (layer.moe) settings.moe_layers.push_back(layer.model_layer);
    for (std::uint32_t group = 0; group < job.groups(); ++group) {
        auto const& parts = job.layouts()[group].parts();
        for (auto const& part : parts) settings.local_parts[group] += mine(job.lp_of(part.domain)) ? 1 : 0;
        settings.counts_loads[group] = mine(job.lp_of(parts.front().domain));
    }
    traffic_ = std::make_unique<MoeTraffic>(std::move(settings), job.matrices(), job.placement());

    std::vector<LocalLp> local;
    std::vector<std::pair<std::uint32_t, std::size_t>> placed;  // rank, start of its domains
    for (std::uint32_t r = 0; r < job.ranks(); ++r) {
        if (!mine(LpId{r})) continue;
        placed.emplace_back(r, rank_domains_.size());
        for (auto const domain : job.layouts()[r / job.ep()].domains_of(r % job.ep()))
            rank_domains_.push_back(job.lp_of(domain));
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
        auto const [r, first] = placed[i];
        auto const end = i + 1 < placed.size() ? placed[i + 1].second : rank_domains_.size();
        ranks_.push_back(std::make_unique<MoeRank>(RankId{job.first_rank().value() + r}, r / job.ep(), job.plan(),
                                                   std::span<LpId const>{rank_domains_}.subspan(first, end - first),
                                                   sink_));
        local.push_back({LpId{r}, ranks_.back().get()});
    }
    auto const pairs =
        job.scenario().output().detail() == "full" ? ExchangeDomain::Pairs::count : ExchangeDomain::Pairs::ignore;
    std::vector<ExchangeDomain*> domains;
    for (auto const domain : job.domains()) {
        if (!mine(job.lp_of(domain))) continue;
        domains_.push_back(std::make_unique<ExchangeDomain>(domain, job.fabric(), job.domain_map(), job.layouts(),
                                                            *traffic_, make_engine(domain), job.first_rank(), pairs,
                                                            sink_));
        domains.push_back(domains_.back().get());
        local.push_back({job.lp_of(domain), domains_.back().get()});
    }

    heartbeat_ = std::make_unique<Heartbeat>(
        Heartbeat::Setup{.progress = options.progress,
                         .limits = options.limits,
                         .processes = exchange.count(),
                         .operations = static_cast<std::int64_t>(job.ranks()) * job.plan().operations_per_rank(),
                         .link_bin = Time::from_ps(job.scenario().output().link_bin()),
                         .flush = options.flush},
        std::move(domains), sink_);
    loop_ = std::make_unique<WindowLoop>(
        WindowOptions{.lookahead = job.lookahead(), .width = options.window_width, .until = options.limits.until},
        std::move(local), owner, exchange, heartbeat_.get());
}

RunOutcome Simulation::run() {
    loop_->run();
    return close();
}

RunOutcome Simulation::close() {
    auto const outcome = loop_->outcome();
    heartbeat_->finish(outcome.last);
    traffic_->emit_expert_loads(sink_);
    for (auto const& domain : domains_) domain->emit_pairs(sink_);
    sink_.forward_pairs();
    return outcome;
}

Simulation::Share Simulation::share() const {
    Share share;
    share.bundle_bytes.resize(job_->fabric().bundles().size());
    share.bundle_payload.resize(share.bundle_bytes.size());
    for (auto const& rank : ranks_) {
        share.digest.add(rank->rank().value() - job_->first_rank().value(), rank->digest());
        share.unfinished_ranks += rank->finished() ? 0 : 1;
        share.last_finish = std::max(share.last_finish, rank->finished_at());
    }
    for (auto const& domain : domains_) {
        share.digest.add(job_->lp_of(domain->domain()).value(), domain->digest());
        share.flows += domain->counters().flows;
        share.injected_bytes += domain->counters().injected_bytes;
        share.delivered_bytes += domain->counters().delivered_bytes;
        auto const bundles = job_->domain_map().bundles(domain->domain());
        for (std::size_t b = 0; b < bundles.size(); ++b) {
            share.bundle_bytes[bundles[b].index()] = domain->bundle_bytes()[b];
            share.bundle_payload[bundles[b].index()] = domain->bundle_payload()[b];
        }
    }
    share.imbalance = traffic_->imbalance();
    return share;
}

std::vector<std::string> Simulation::waiting() const {
    std::vector<std::string> lines;
    for (auto const& domain : domains_)
        for (auto const& stuck : domain->stuck()) {
            auto const first = job_->first_rank().value() + stuck.key.group * job_->ep();
            auto line = fmt::format("{} of layer {}, micro-batch {}, group {}:", name_of(stuck.key.kind),
                                    stuck.key.layer, stuck.key.microbatch, stuck.key.group);
            if (!stuck.waiting.empty() && !stuck.missing.empty())
                line +=
                    fmt::format(" rank {} and {} more wait for rank {}, which has not reached it",
                                first + stuck.waiting.front(), stuck.waiting.size() - 1, first + stuck.missing.front());
            if (!stuck.starved.empty()) {
                auto const [source, target] = stuck.starved.front();
                auto const way = job_->fabric().route(source, target);
                line += fmt::format(" {} transfers cannot move, the first from rank {} to rank {} over",
                                    stuck.starved.size(), source.value(), target.value());
                for (auto const hop : way.bundles()) line += " " + job_->fabric().bundle_name(hop);
            }
            lines.push_back(std::move(line));
        }
    for (auto const& rank : ranks_)
        if (!rank->finished() && lines.size() < 8) lines.push_back(rank->waiting_for());
    return lines;
}

}  // namespace orrery
