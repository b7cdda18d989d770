// SPDX-License-Identifier: Apache-2.0
#include "apps/run/simulation.hpp"

#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/flow/flow_engine.hpp"
#include "netmodels/packet/packet_engine.hpp"

#include <algorithm>
#include <map>

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
    make_traffic();
    std::vector<LocalLp> local;
    std::vector<LinkTraffic*> traffic;
    make_ranks(local);
    if (job.sites())
        make_sites(local, traffic);
    else
        make_domains(local, traffic);
    owner_ = {};  // the caller's, and not needed any more

    heartbeat_ = std::make_unique<Heartbeat>(
        Heartbeat::Setup{.progress = options.progress,
                         .limits = options.limits,
                         .process = exchange.index(),
                         .processes = exchange.count(),
                         .operations = static_cast<std::int64_t>(job.ranks()) * job.plan().operations_per_rank(),
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

void Simulation::make_traffic() {
    auto const& job = *job_;
    MoeTraffic::Settings settings{.ep = job.ep(),
                                  .groups = job.groups(),
                                  .first_rank = job.first_rank(),
                                  .dispatch = job.exchange(OpKind::dispatch),
                                  .combine = job.exchange(OpKind::combine),
                                  .moe_layers = {},
                                  .load_counter = std::vector<std::uint32_t>(job.groups())};
    for (auto const& layer : job.plan().layers())
        if (layer.moe) settings.moe_layers.push_back(layer.model_layer);
    for (std::uint32_t group = 0; group < job.groups(); ++group) {
        auto const domain = job.layouts()[group].parts().front().domain;
        settings.load_counter[group] =
            job.sites() ? job.sites()->concerned(group, domain).front().value() : domain.value();
    }
    traffic_ = std::make_unique<MoeTraffic>(std::move(settings), job.matrices(), job.placement());
}

void Simulation::make_ranks(std::vector<LocalLp>& local) {
    auto const& job = *job_;
    struct Placed {
        std::uint32_t rank, parts;
        std::size_t first;  // of its carriers
    };
    std::vector<Placed> placed;
    for (std::uint32_t r = 0; r < job.ranks(); ++r) {
        if (!mine(LpId{r})) continue;
        auto const group = r / job.ep();
        auto const domains = job.layouts()[group].domains_of(r % job.ep());
        placed.push_back({r, static_cast<std::uint32_t>(domains.size()), carriers_.size()});
        for (auto const domain : domains) {
            if (!job.sites())
                carriers_.push_back(job.lp_of(domain));
            else
                for (auto const site : job.sites()->concerned(group, domain)) carriers_.push_back(job.lp_of(site));
        }
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
        auto const [r, parts, first] = placed[i];
        auto const end = i + 1 < placed.size() ? placed[i + 1].first : carriers_.size();
        ranks_.push_back(std::make_unique<MoeRank>(RankId{job.first_rank().value() + r}, r / job.ep(), job.plan(),
                                                   std::span<LpId const>{carriers_}.subspan(first, end - first), parts,
                                                   sink_));
        local.push_back({LpId{r}, ranks_.back().get()});
    }
}

void Simulation::make_domains(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic) {
    auto const& job = *job_;
    auto const pairs = job.scenario().output().detail() == "full" ? CountPairs::yes : CountPairs::no;
    for (auto const domain : job.domains()) {
        if (!mine(job.lp_of(domain))) continue;
        domains_.push_back(std::make_unique<ExchangeDomain>(domain, job.fabric(), job.domain_map(), job.layouts(),
                                                            *traffic_, make_engine(domain), job.first_rank(), pairs,
                                                            sink_));
        traffic.push_back(&domains_.back()->engine().traffic());
        local.push_back({job.lp_of(domain), domains_.back().get()});
    }
}

void Simulation::make_sites(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic) {
    auto const& job = *job_;
    ExchangeSite::Setup const setup{
        .fabric = &job.fabric(),
        .map = job.sites(),
        .layouts = &job.layouts(),
        .traffic = traffic_.get(),
        .sink = &sink_,
        .first_rank = job.first_rank(),
        .first_site = job.lp_of(SiteId{0}),
        .pairs = job.scenario().output().detail() == "full" ? CountPairs::yes : CountPairs::no,
        .epoch = job.site_epoch(),
        .bin_width = Time::from_ps(job.scenario().output().link_bin()),
        .lookahead = job.lookahead(),
        .finish = std::min(job.exchange(OpKind::dispatch).finish, job.exchange(OpKind::combine).finish)};
    for (std::uint32_t s = 0; s < job.sites()->count(); ++s) {
        auto const lp = job.lp_of(SiteId{s});
        if (!mine(lp)) continue;
        sites_.push_back(std::make_unique<ExchangeSite>(SiteId{s}, setup));
        traffic.push_back(&sites_.back()->traffic());
        local.push_back({lp, sites_.back().get()});
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
    traffic_->emit_expert_loads(sink_);
    for (auto const& domain : domains_) domain->emit_pairs(sink_);
    for (auto const& site : sites_) site->emit_pairs(sink_);
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
    for (auto const& rank : ranks_) {
        share.digest.add(rank->rank().value() - job_->first_rank().value(), rank->digest());
        share.unfinished_ranks += rank->finished() ? 0 : 1;
        share.last_finish = std::max(share.last_finish, rank->finished_at());
    }
    auto const count = [&share](TransferCounters const& counters) {
        share.flows += counters.flows;
        share.injected_bytes += counters.injected_bytes;
        share.delivered_bytes += counters.delivered_bytes;
    };
    for (auto const& site : sites_) {
        share.digest.add(job_->lp_of(site->site()).value(), site->digest());
        count(site->counters());
        site->add_bundle_bytes(share.bundle_bytes, share.bundle_payload);
    }
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
        count(domain->counters());
        auto const bundles = job_->domain_map().bundles(domain->domain());
        for (std::size_t b = 0; b < bundles.size(); ++b) {
            share.bundle_bytes[bundles[b].index()] = domain->bundle_bytes()[b];
            share.bundle_payload[bundles[b].index()] = domain->bundle_payload()[b];
        }
    }
    share.imbalance = traffic_->imbalance();
    return share;
}

// One entry per exchange and domain; what the sites of this process know of one is put together.
std::vector<StuckExchange> Simulation::stuck() const {
    std::vector<StuckExchange> all;
    for (auto const& domain : domains_)
        for (auto& stuck : domain->stuck()) all.push_back(std::move(stuck));
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

std::vector<std::string> Simulation::waiting() const {
    std::vector<std::string> lines;
    for (auto const& stuck : this->stuck()) {
        auto const first = job_->first_rank().value() + stuck.key.group * job_->ep();
        auto line = fmt::format("{} of layer {}, micro-batch {}, group {}:", name_of(stuck.key.kind), stuck.key.layer,
                                stuck.key.microbatch, stuck.key.group);
        if (!stuck.waiting.empty() && !stuck.missing.empty())
            line += fmt::format(" rank {} and {} more wait for rank {}, which has not reached it",
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
    for (auto const& domain : domains_)
        if (auto const* packets = dynamic_cast<PacketEngine const*>(&domain->engine()))
            if (auto text = packets->network().diagnosis(); !text.empty() && !lines.empty()) lines.push_back(text);
    for (auto const& rank : ranks_)
        if (!rank->finished() && lines.size() < 8) lines.push_back(rank->waiting_for());
    return lines;
}

}  // namespace orrery
