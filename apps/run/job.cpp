// SPDX-License-Identifier: Apache-2.0
#include "apps/run/job.hpp"

#include "apps/run/packet_settings.hpp"
#include "io/scenario/quantity.hpp"
#include "netmodels/topology/registry.hpp"
#include "workloads/devices/attention_price.hpp"
#include "workloads/operators/operator.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery {
namespace {

// A message that lists many links: its beginning and its end.
std::string shorten_message(std::string const& text) {
    constexpr std::size_t most = 400, kept = 190;
    return text.size() <= most ? text : text.substr(0, kept) + " ... " + text.substr(text.size() - kept);
}

Phase phase_of(scenario::WorkloadSpec const& workload) {
    return workload.phase() == "prefill" ? Phase::prefill : Phase::decode;
}

// The divisors of `n` nearest to `wanted`: "46 or 48".
std::string nearest_divisors(std::uint64_t n, std::uint64_t wanted) {
    std::uint64_t below = 0, above = 0;
    for (auto d = std::min(wanted, n); d >= 1 && below == 0; --d)
        if (n % d == 0) below = d;
    for (auto d = wanted + 1; d <= n && above == 0; ++d)
        if (n % d == 0) above = d;
    if (above == 0) return std::to_string(below);
    return below == 0 ? std::to_string(above) : fmt::format("{} or {}", below, above);
}

}  // namespace

Job::Job(LoadedScenario loaded) : loaded_(std::move(loaded)) {
    std::vector<std::string> problems;
    auto const attempt = [&problems](auto const& step) {
        try {
            step();
        } catch (InputError const& error) {
            problems.emplace_back(error.what());
        }
    };
    attempt([this] { build_fabric(); });
    if (fabric_) attempt([this] { degrade_fabric(); });
    attempt([this] { model_ = read_model_config(scenario().workload().model()); });
    bool const known = fabric_ && model_.layers > 0;
    if (known) {
        check_shape(problems);
        attempt([this] { check_slots(); });
    }
    if (problems.empty()) attempt([this] { build_workload(); });
    if (problems.empty()) attempt([this] { build_exchange(); });
    if (!problems.empty()) throw InputError(fmt::format("{}", fmt::join(problems, "\n")));
    build_graph();
}

void Job::build_fabric() {
    auto fabric = make_fabric(scenario().fabric(), scenario().seed());
    constexpr std::int64_t fastest = 1'000'000'000'000'000;  // b/s: the solver's fixed point holds no more
    for (std::uint32_t b = 0; b < fabric->bundles().size(); ++b)
        ORRERY_VALIDATE(fabric->bundles()[b].capacity.bits_per_s() <= fastest,
                        "{}: {} would carry {} (at most 125 TB/s) use lower rates or fewer links",
                        locate(loaded_, "fabric.kind"), fabric->bundle_name(BundleId{b}),
                        to_string(fabric->bundles()[b].capacity));
    fabric_ = std::move(fabric);
    domain_map_ = std::make_unique<DomainMap>(*fabric_);
}

void Job::degrade_fabric() {
    auto wishes = degradations_of(scenario().fabric());
    for (auto& wish : wishes) wish.where = locate(loaded_, wish.where + ".links");
    timetable_ = timetable_of(scenario().fabric(), scenario().seed(), wishes);
    std::vector<Degradation> always;
    for (auto const& wish : wishes)
        if (wish.always()) always.push_back(wish);
    DegradedLinks met;
    if (always.size() == wishes.size()) {
        met = fabric_->degrade(wishes);
    } else {
        // Patterns of the timetable are checked, and their links counted, on a fabric that is thrown away.
        met = make_fabric(scenario().fabric(), scenario().seed())->degrade(wishes);
        fabric_->degrade(always);
    }
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        auto const& wish = wishes[i];
        DegradeEffect effect{.where = wish.where,
                             .pattern = wish.pattern,
                             .links = met.links[i],
                             .changes_nothing = !wish.down && wish.rate_factor == 1 && wish.extra_latency == Time{},
                             .bundles = std::move(met.bundles[i])};
        degradations_.push_back(std::move(effect));
    }
}

// Where the slots of experts do not divide over the ranks, say where the counts come from.
void Job::check_slots() const {
    auto const& workload = scenario().workload();
    try {
        validate_slots(make_placement_setup(workload.experts(), model_, ep(), 1, fabric_->ranks_per_block()));
    } catch (InputError const& error) {
        throw InputError(fmt::format("{} = {}, {} = {}: {}", locate(loaded_, "workload.ep"), ep(),
                                     locate(loaded_, "workload.experts.redundant"), workload.experts().redundant(),
                                     error.what()));
    }
}

void Job::check_shape(std::vector<std::string>& problems) const {
    auto const& workload = scenario().workload();
    auto const have = static_cast<std::uint64_t>(fabric_->rank_count());
    auto const first = static_cast<std::uint64_t>(workload.first_rank());
    auto const want = static_cast<std::uint64_t>(ep()) * groups();
    if (first + 2 > have)
        problems.push_back(fmt::format("{} = {} (the fabric has {} ranks and a group needs two) use at most {}",
                                       locate(loaded_, "workload.first_rank"), first, have, have < 2 ? 0 : have - 2));
    else if (first + want > have)
        problems.push_back(
            fmt::format("{} = {} (first_rank {} + {} groups of {} ranks need {} ranks and the fabric has {}) use {}",
                        locate(loaded_, "workload.ep"), ep(), first, groups(), ep(), first + want, have,
                        first + ep() > have ? fmt::format("ep: {} at most", have - first)
                                            : fmt::format("ep_groups: {} at most", (have - first) / ep())));
    std::uint64_t const divided = workload.batch_per_rank();
    if (divided % workload.microbatches() != 0)
        problems.push_back(fmt::format(
            "{} = {} (a batch of {} sequences per rank does not divide into {} micro-batches) use {}, or a batch of {}",
            locate(loaded_, "workload.microbatches"), workload.microbatches(), divided, workload.microbatches(),
            nearest_divisors(divided, workload.microbatches()),
            (divided / workload.microbatches() + 1) * workload.microbatches()));
    if (workload.moe_layers() > model_.moe_layers())
        problems.push_back(fmt::format("{} = {} (the model has {} MoE layers) use {} or 0 for the whole model",
                                       locate(loaded_, "workload.moe_layers"), workload.moe_layers(),
                                       model_.moe_layers(), model_.moe_layers()));
    if (workload.experts().shared() == "dedicated" && model_.shared_experts == 0)
        problems.push_back(fmt::format("{} = dedicated (the model has no shared expert) use local",
                                       locate(loaded_, "workload.experts.shared")));
}

std::vector<StepPlan::Layer> Job::layers() const {
    auto const limit = scenario().workload().moe_layers();
    std::vector<StepPlan::Layer> layers;
    for (std::uint32_t l = 0; l < model_.layers; ++l) {
        bool const moe = model_.ffn_of[l] == LayerFfn::moe;
        if (limit > 0 && (!moe || layers.size() == limit)) continue;
        auto const& price =
            model_.attention_of[l] == LayerAttention::full ? prices_.attention : prices_.linear_attention;
        layers.push_back({static_cast<std::uint16_t>(l), moe, price.duration});
    }
    return layers;
}

void Job::build_workload() {
    auto const& workload = scenario().workload();
    auto const phase = phase_of(workload);
    device_ = make_device(scenario().device());
    auto const sequences = workload.batch_per_rank() / workload.microbatches();
    auto const new_tokens = phase == Phase::decode ? workload.tokens_per_sequence() : workload.context();
    auto const context = phase == Phase::decode ? workload.context() + new_tokens : workload.context();
    tokens_per_microbatch_ = sequences * new_tokens;

    auto const price = [&](LayerAttention kind) {
        return price_attention(device_, model_, phase, sequences, new_tokens, context, kind);
    };
    prices_.attention = price(LayerAttention::full);
    if (std::find(model_.attention_of.begin(), model_.attention_of.end(), LayerAttention::linear) !=
        model_.attention_of.end())
        prices_.linear_attention = price(LayerAttention::linear);
    prices_.gate = price_gate(device_, model_, tokens_per_microbatch_);
    bool const local_shared = workload.experts().shared() == "local" && model_.shared_experts > 0;
    if (local_shared) prices_.shared_expert = price_shared_expert(device_, model_, tokens_per_microbatch_);
    if (model_.dense_width > 0) prices_.dense_ffn = price_dense_ffn(device_, model_, tokens_per_microbatch_);
    expert_pricer_.emplace(device_, model_);

    auto simulated = layers();
    auto const moe_layers = static_cast<std::uint32_t>(
        std::count_if(simulated.begin(), simulated.end(), [](auto const& layer) { return layer.moe; }));
    routing_ = make_routing_source(make_routing_setup(workload.routing(), model_, moe_layers, scenario().seed()));
    auto const setup = make_placement_setup(workload.experts(), model_, ep(), moe_layers, fabric_->ranks_per_block());
    placement_.emplace(make_placement(setup, *routing_));
    matrices_.emplace(*routing_, *placement_,
                      MatrixShape{tokens_per_microbatch_, workload.microbatches(), model_.top_k});
    for (auto const& list : {model_.warnings, placement_->warnings(), routing_->warnings()})
        warnings_.insert(warnings_.end(), list.begin(), list.end());

    OperatorInputs const inputs{model_.expert_hidden, device_.vector_cores};
    dispatch_ = make_plan(workload.operators(), OpKind::dispatch, inputs);
    combine_ = make_plan(workload.operators(), OpKind::combine, inputs);
    plan_.emplace(std::move(simulated), workload.microbatches(),
                  local_shared ? StepPlan::SharedExpert::local : StepPlan::SharedExpert::none,
                  StepPlan::Costs{.gate = prices_.gate.duration,
                                  .shared_expert = prices_.shared_expert.duration,
                                  .dense_ffn = prices_.dense_ffn.duration,
                                  .dispatch_launch = dispatch_.launch,
                                  .combine_launch = combine_.launch,
                                  .experts = [this](std::uint32_t messages, std::uint32_t active) {
                                      return expert_pricer_->experts_time(messages, active);
                                  }});
}

void Job::build_exchange() {
    try {
        for (std::uint32_t group = 0; group < groups(); ++group)
            layouts_.emplace_back(*fabric_, RankId{first_rank().value() + group * ep()}, ep());
    } catch (InputError const& error) {  // two ranks have no way to each other
        throw InputError(fmt::format("{}: {}", degradations_.empty() ? "fabric" : degradations_.front().where,
                                     shorten_message(error.what())));
    }
    std::set<DomainId> used;
    for (auto const& layout : layouts_)
        for (auto const& part : layout.parts()) used.insert(part.domain);
    domains_.assign(used.begin(), used.end());
    for (std::uint32_t i = 0; i < domains_.size(); ++i) domain_lp_.emplace(domains_[i], LpId{ranks() + i});

    choose_sharing();
    choose_lookahead();
    choose_error();
}

// Sites cost about twice the CPU time of one solver (docs/decisions/0006-delayed-sharing.md), so they pay from some
// number of processes on. auto may not know that number, and is exact.
void Job::choose_sharing() {
    auto const& wanted = scenario().network().flow().sharing();
    if (scenario().network().model() != "flow" || wanted != "delayed") {
        solvers_text_ = fmt::format("one solver per plane{}", wanted == "auto" ? " (auto)" : "");
        return;
    }
    auto const where = locate(loaded_, "network.flow.sharing");
    ORRERY_VALIDATE(timetable_.empty(),
                    "{} = delayed (sites do not follow links that change while the run goes on) use exact", where);
    ORRERY_VALIDATE(scenario().network().flow().initial_window() == 0,
                    "{} = delayed (sites know no slow start) use exact, or an initial_window of 0", where);
    std::vector<RankId> first_ranks;
    for (std::uint32_t group = 0; group < groups(); ++group)
        first_ranks.emplace_back(first_rank().value() + group * ep());
    sites_ = std::make_unique<SiteMap>(*fabric_, layouts_, first_ranks);
    solvers_text_ = sites_->notice() == Time::infinity()
                        ? fmt::format("{} sites without notices", sites_->count())
                        : fmt::format("{} sites with notices {} late", sites_->count(), to_string(sites_->notice()));
}

void Job::choose_lookahead() {
    struct Candidate {
        Time time;
        char const* reason;
    };
    auto const least =
        std::min({Candidate{dispatch_.launch, "launch of dispatch"}, Candidate{combine_.launch, "launch of combine"},
                  Candidate{dispatch_.finish, "finish of dispatch"}, Candidate{combine_.finish, "finish of combine"},
                  Candidate{sites_ ? sites_->notice() : Time::infinity(), "notice between sites"}},
                 [](auto const& a, auto const& b) { return a.time < b.time; });
    lookahead_ = least.time;
    lookahead_reason_ = fmt::format("{} ({})", to_string(least.time), least.reason);
    if (scenario().network().model() == "packet") {
        packet_ = make_packet_settings(scenario());
        packet_.timetable =
            link_timetable_of(scenario().fabric(), scenario().seed(), degradations_of(scenario().fabric()));
        check_trace(packet_.trace, *fabric_);
        // A transfer is told when its last packet has arrived, and its sender's end counts from the departure.
        auto const finish = std::min(dispatch_.finish, combine_.finish) - packet_notice();
        ORRERY_VALIDATE(
            finish >= Time::from_ps(100'000),
            "workload.operators: a finish of {} (the packet model tells the end of a transfer up to {} late) "
            "use a longer finish or the flow model",
            to_string(std::min(dispatch_.finish, combine_.finish)), to_string(packet_notice()));
        if (finish < lookahead_) {
            lookahead_ = finish;
            lookahead_reason_ = fmt::format("{} (finish less the longest route)", to_string(finish));
        }
    }
}

void Job::choose_error() {
    auto const& error = scenario().network().flow().error();
    constexpr std::int64_t exact_up_to = 2'000'000;  // flows: some ten CPU seconds in groups of hundreds of ranks
    auto const flows = estimate().flows;
    if (scenario().network().model() == "packet") {
        sharing_text_ = describe(packet_);
    } else if (scenario().network().model() != "flow") {
        sharing_text_ = "no shares: full rate, serialised at the ports";
    } else if (error == "exact") {
        sharing_text_ = "exact shares";
    } else if (error == "auto" && flows <= exact_up_to) {
        sharing_text_ = "exact shares (auto)";
    } else if (error == "auto") {
        flow_error_ppm_ = 10'000;
        sharing_text_ = "shares within 1 % (auto)";
    } else {
        auto const fraction = quantity::parse_real(quantity::Dimension::fraction, error).value.value();
        flow_error_ppm_ = std::llround(fraction * 1e6);
        sharing_text_ = fmt::format("shares within {} %", fraction * 100);
    }
    if (site_epoch() > Time{}) sharing_text_ = fmt::format("shares every {}", to_string(site_epoch()));
}

// What sites hear of each other is one notice old: looking more often than that is what an allowed error saves.
Time Job::site_epoch() const {
    constexpr std::int64_t few = 200'000;  // flows; where auto looks at each
    bool const many = scenario().network().flow().error() == "auto" && estimate().flows > few;
    if (!sites_ || sites_->notice() == Time::infinity() || (flow_error_ppm_ == 0 && !many)) return {};
    return sites_->notice();
}

// Sites tell each other of an end before it is a row, and look at finishes once per epoch, which is a notice.
Time Job::row_delay() const {
    if (scenario().network().model() == "packet") return packet_notice();
    return sites_ && sites_->notice() != Time::infinity() ? 3 * sites_->notice() : Time{};
}

std::string Job::network_text() const {
    auto const& model = scenario().network().model();
    if (model == "analytic") return model;
    if (model == "packet") return fmt::format("packet, {}", sharing_text_);
    return fmt::format("flow, {}, {}", sharing_text_, solvers_text_);
}

// The longest sum of link latencies over a route, and two windows of packets.
Time Job::packet_notice() const {
    std::vector<Time> slowest(fabric_->link_classes().size());
    for (auto const& bundle : fabric_->bundles()) {
        if (domain_lp_.find(bundle.domain) == domain_lp_.end()) continue;
        slowest[bundle.link_class] = std::max(slowest[bundle.link_class], bundle.latency);
    }
    auto const longest = *std::max_element(slowest.begin(), slowest.end());
    // A route has at most one hop of each class, or more hops than there are classes; and a window is no wider than the
    // latency of a link.
    Time sum;
    for (auto const time : slowest) sum += time;
    auto const hops = fabric_->figures().diameter_hops;
    if (hops > static_cast<std::int64_t>(slowest.size())) sum = std::max(sum, longest * hops);
    return sum + 2 * longest;
}

void Job::build_graph() {
    // One event per operation and rank; what carries exchanges handles about two events per member and exchange beside
    // its solver, whose cost goes with the pairs.
    auto const exchanges = 2 * static_cast<std::int64_t>(scenario().workload().microbatches()) * plan_->moe_layers();
    graph_.weight.assign(lp_count(), plan_->operations_per_rank());
    graph_.block.resize(lp_count());
    auto const per_block = std::max(1U, fabric_->ranks_per_block());
    for (std::uint32_t r = 0; r < ranks(); ++r) graph_.block[r] = (first_rank().value() + r) / per_block;
    if (sites_)
        add_sites_to_graph(exchanges);
    else
        add_domains_to_graph(exchanges);
}

void Job::add_domains_to_graph(std::int64_t exchanges) {
    auto const blocks = (first_rank().value() + ranks()) / std::max(1U, fabric_->ranks_per_block()) + 1;
    for (std::uint32_t i = 0; i < domains_.size(); ++i) {
        graph_.block[ranks() + i] = blocks + i;
        graph_.weight[ranks() + i] = 1;
    }
    for (std::uint32_t group = 0; group < groups(); ++group)
        for (auto const& part : layouts_[group].parts()) {
            auto const lp = lp_of(part.domain);
            graph_.weight[lp.index()] += static_cast<std::int64_t>(part.participants) * ep() * exchanges / 4;
            for (std::uint32_t m = 0; m < ep(); ++m)
                if (part.senders_to[m] > 0) graph_.edges.push_back({LpId{group * ep() + m}, lp, lookahead_, exchanges});
        }
}

// A site stays with its ranks where it can.
void Job::add_sites_to_graph(std::int64_t exchanges) {
    auto const per_block = std::max(1U, fabric_->ranks_per_block());
    for (std::uint32_t s = 0; s < sites_->count(); ++s) {
        auto const& site = sites_->site(SiteId{s});
        graph_.block[ranks() + s] = site.first_rank.value() / per_block;
        graph_.weight[ranks() + s] = 1;
        for (auto const peer : site.peers)
            if (peer.value() > s)
                graph_.edges.push_back({lp_of(SiteId{s}), lp_of(peer), sites_->notice(), exchanges * site.ranks});
    }
    for (std::uint32_t group = 0; group < groups(); ++group)
        for (auto const& part : layouts_[group].parts())
            for (std::uint32_t m = 0; m < ep(); ++m) {
                if (part.senders_to[m] == 0) continue;
                auto const rank = group * ep() + m;
                auto const lp = lp_of(sites_->site_of(part.domain, RankId{first_rank().value() + rank}));
                // Each transfer is served where it leaves and where it arrives.
                graph_.weight[lp.index()] += std::int64_t{part.senders_to[m]} * exchanges / 2;
                graph_.edges.push_back({LpId{rank}, lp, lookahead_, exchanges});
            }
}

std::string Job::lp_name(LpId lp) const {
    if (lp.value() < ranks()) return fabric_->rank_name(RankId{first_rank().value() + lp.value()});
    if (!sites_) return fabric_->domain_name(domains_[lp.index() - ranks()]);
    auto const& site = sites_->site(SiteId{lp.value() - ranks()});
    return fmt::format("{} at {}", fabric_->domain_name(site.domain), fabric_->rank_name(site.first_rank));
}

Job::Estimate Job::estimate() const {
    Estimate estimate;
    auto const moe = plan_->moe_layers();
    auto const microbatches = static_cast<std::int64_t>(scenario().workload().microbatches());
    // Distinct targets of one rank when its messages fall at random: ep * (1 - (1 - 1/ep)^messages).
    auto const messages = static_cast<double>(tokens_per_microbatch_) * matrices_->messages_per_token();
    auto const distinct = ep() * (1 - std::pow(1 - 1.0 / ep(), messages)) * (1 - 1.0 / ep());
    auto const per_exchange = static_cast<std::int64_t>(distinct * ranks());
    estimate.flows = per_exchange * 2 * moe * microbatches;
    estimate.operation_rows = static_cast<std::int64_t>(ranks()) * plan_->operations_per_rank();
    // Per rank and exchange: post, end and start. The solver wakes once per completion when shares are exact; else
    // many transfers complete together (one wake per twelve, measured on the shipped scenarios).
    estimate.events = estimate.operation_rows + static_cast<std::int64_t>(ranks()) * 2 * moe * microbatches * 3 +
                      (flow_error_ppm_ == 0 ? estimate.flows : estimate.flows / 12);
    if (sites_) estimate.events += 2 * estimate.flows;  // notices, measured: one to three per transfer in all
    // Micro-batches overlap a dispatch with a combine. An active flow of two links: its record, two places, two entries
    // in link lists and one in a heap (140 B, vectors half empty: 170), and its offer at the instant of its start; at a
    // site twice that, since both ends serve it.
    estimate.flows_at_once = per_exchange * std::min<std::int64_t>(microbatches, 2);
    estimate.flow_bytes = sites_ ? 390 : 200;
    for (auto const domain : domains_)
        estimate.flow_links += static_cast<std::int64_t>(domain_map_->bundles(domain).size());
    estimate.flow_link_bytes = 300;
    // A flow in flight; a rank: its program and queue entries; a fabric
    // link.
    estimate.memory_bytes = 40'000'000 + estimate.solver_bytes() + static_cast<std::int64_t>(ranks()) * 1500 +
                            static_cast<std::int64_t>(fabric_->links().size()) * 40 +
                            static_cast<std::int64_t>(fabric_->bundles().size()) * 400 +
                            static_cast<std::int64_t>(ep()) * ep() * groups() * 16;
    return estimate;
}

}  // namespace orrery
