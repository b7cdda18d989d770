// SPDX-License-Identifier: Apache-2.0
#include "apps/run/simulation.hpp"

#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/flow/flow_engine.hpp"
#include "netmodels/packet/packet_engine.hpp"

#include <algorithm>

namespace orrery {

std::unique_ptr<TransferEngine> Simulation::make_engine(DomainId domain) const {
    auto const bin = Time::from_ps(job_->scenario().output().link_bin());
    if (job_->scenario().network().model() == "analytic")
        return std::make_unique<AnalyticEngine>(job_->fabric(), job_->domain_map(), domain, bin);
    if (job_->scenario().network().model() == "packet")
        return std::make_unique<PacketEngine>(job_->fabric(), job_->domain_map(), domain, job_->packet_settings());
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
    : job_(&job), owner_(owner), me_(exchange.index()), sink_(timeline) {
    run_ = job.workload().make_run({.job = &job, .mine = [this](LpId lp) { return mine(lp); }, .sink = &sink_});
    std::vector<LocalLp> local;
    std::vector<LinkTraffic*> traffic;
    for (std::uint32_t r = 0; r < job.ranks(); ++r)
        if (mine(LpId{r})) local.push_back({LpId{r}, &run_->add_rank(r)});
    if (job.sites())
        make_sites(local, traffic);
    else
        make_domains(local, traffic);
    owner_ = {};  // the caller's, and not needed any more

    heartbeat_ =
        std::make_unique<Heartbeat>(Heartbeat::Setup{.progress = options.progress,
                                                     .limits = options.limits,
                                                     .process = exchange.index(),
                                                     .processes = exchange.count(),
                                                     .operations = job.workload().operations(),
                                                     .link_bin = Time::from_ps(job.scenario().output().link_bin()),
                                                     .row_delay = job.row_delay(),
                                                     .earlier_rows = options.earlier_rows,
                                                     .stream = options.stream,
                                                     .checkpoint_due = options.checkpoint_due,
                                                     .checkpoint = options.checkpoint,
                                                     .checkpoint_cost_s = options.checkpoint_cost_s,
                                                     .writing = options.writing,
                                                     .gather = options.gather},
                                    std::move(traffic), sink_);
    loop_ = std::make_unique<WindowLoop>(WindowOptions{.lookahead = job.lookahead(),
                                                       .width = options.window_width,
                                                       .until = options.limits.until,
                                                       .name = [&job](LpId lp) { return job.lp_name(lp); }},
                                         std::move(local), owner, exchange, heartbeat_.get());
}

void Simulation::make_domains(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic) {
    for (auto const domain : job_->domains()) {
        if (!mine(job_->lp_of(domain))) continue;
        domains_.push_back(
            std::make_unique<DomainLp>(domain, job_->fabric(), job_->domain_map(), make_engine(domain), sink_));
        run_->add_protocols(*domains_.back());
        traffic.push_back(&domains_.back()->engine().traffic());
        local.push_back({job_->lp_of(domain), domains_.back().get()});
    }
}

void Simulation::make_sites(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic) {
    for (std::uint32_t s = 0; s < job_->sites()->count(); ++s) {
        auto const lp = job_->lp_of(SiteId{s});
        if (!mine(lp)) continue;
        auto& site = run_->add_site(SiteId{s});
        traffic.push_back(&site.traffic());
        local.push_back({lp, &site});
    }
}

RunOutcome Simulation::run() {
    loop_->run();
    return close();
}

namespace {

// Behind the numbers of LPs.
std::uint64_t sums_key(std::uint32_t process) {
    return (std::uint64_t{1} << 32) + process;
}

}  // namespace

void Simulation::save(StateSaver& saver) {
    loop_->save(saver);
    saver.save(sums_key(me_), [this](StateStream& stream) { sink_.state(stream); });
}

void Simulation::add_sums(StateSource& source, std::uint32_t process) {
    source.restore(sums_key(process), [this](StateStream& stream) { sink_.state(stream); });
}

RunOutcome Simulation::run_from(StateSource& source, LoopProgress const& progress) {
    loop_->begin_from(source, progress);
    while (loop_->advance()) {
    }
    return loop_->outcome();
}

RunOutcome Simulation::close() {
    auto const outcome = loop_->outcome();
    heartbeat_->finish(outcome.last);
    run_->emit_totals();
    sink_.forward_pairs();
    ended_ = outcome.reason == StopReason::finished;
    return outcome;
}

Time Simulation::complete_until() const {
    return ended_ ? Time::infinity() : heartbeat_->complete_until();
}

Simulation::Share Simulation::share() const {
    Share share;
    share.bundle_bytes.resize(job_->fabric().bundles().size());
    share.bundle_payload.resize(share.bundle_bytes.size());
    if (job_->scenario().network().model() == "packet") share.packets.emplace(job_->fabric());
    run_->add_to(share);
    for (auto const& domain : domains_) {
        share.digest.add(job_->lp_of(domain->domain()).value(), domain->digest());
        if (auto const* packets = dynamic_cast<PacketEngine const*>(&domain->engine())) {
            auto const counters = packets->network().counters();
            ORRERY_ENSURE(counters.injected == counters.delivered + counters.dropped + packets->network().in_flight(),
                          "packets are not conserved: {} injected, {} delivered, {} dropped, {} in flight",
                          counters.injected, counters.delivered, counters.dropped, packets->network().in_flight());
            share.digest.add(packets->network().digest());
            share.packets->add(*packets);
        }
        share.solver_bytes += domain->engine().figures().memory_bytes;
        share.transfers.add(domain->counters());
        auto const bundles = job_->domain_map().bundles(domain->domain());
        for (std::size_t b = 0; b < bundles.size(); ++b) {
            share.bundle_bytes[bundles[b].index()] = domain->bundle_bytes()[b];
            share.bundle_payload[bundles[b].index()] = domain->bundle_payload()[b];
        }
    }
    return share;
}

std::vector<std::string> Simulation::waiting() const {
    auto lines = run_->stuck_transfers();
    for (auto const& domain : domains_)
        if (auto const* packets = dynamic_cast<PacketEngine const*>(&domain->engine()))
            if (auto text = packets->network().diagnosis(); !text.empty() && !lines.empty()) lines.push_back(text);
    constexpr std::size_t shown = 8;
    for (auto& line : run_->waiting_ranks(shown - std::min(shown, lines.size()))) lines.push_back(std::move(line));
    return lines;
}

}  // namespace orrery
