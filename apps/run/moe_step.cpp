// SPDX-License-Identifier: Apache-2.0
#include "apps/run/moe_step.hpp"

#include "apps/run/job.hpp"
#include "apps/run/moe_step_run.hpp"
#include "workloads/devices/attention_price.hpp"
#include "workloads/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery {
namespace {

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

MoeStep::MoeStep(LoadedScenario const& loaded, Fabric const& fabric, std::vector<std::string>& problems)
    : loaded_(&loaded), fabric_(&fabric) {
    auto const attempt = [&problems](auto const& step) {
        try {
            step();
        } catch (InputError const& error) {
            problems.emplace_back(error.what());
        }
    };
    attempt([this] { model_ = read_model_config(spec().model()); });
    if (model_.layers > 0) {
        check_shape(problems);
        attempt([this] { check_slots(); });
    }
    if (problems.empty())
        attempt([this] {
            price_layers();
            place_experts();
            plan_step();
        });
}

// Where the slots of experts do not divide over the ranks, say where the counts come from.
void MoeStep::check_slots() const {
    auto const& workload = spec();
    try {
        validate_slots(make_placement_setup(workload.experts(), model_, ep(), 1, fabric_->ranks_per_block()));
    } catch (InputError const& error) {
        throw InputError(fmt::format("{} = {}, {} = {}: {}", locate(*loaded_, "workload.ep"), ep(),
                                     locate(*loaded_, "workload.experts.redundant"), workload.experts().redundant(),
                                     error.what()));
    }
}

void MoeStep::check_shape(std::vector<std::string>& problems) const {
    auto const& workload = spec();
    auto const have = static_cast<std::uint64_t>(fabric_->rank_count());
    auto const first = static_cast<std::uint64_t>(workload.first_rank());
    auto const want = static_cast<std::uint64_t>(ep()) * groups();
    if (first + 2 > have)
        problems.push_back(fmt::format("{} = {} (the fabric has {} ranks and a group needs two) use at most {}",
                                       locate(*loaded_, "workload.first_rank"), first, have, have < 2 ? 0 : have - 2));
    else if (first + want > have)
        problems.push_back(
            fmt::format("{} = {} (first_rank {} + {} groups of {} ranks need {} ranks and the fabric has {}) use {}",
                        locate(*loaded_, "workload.ep"), ep(), first, groups(), ep(), first + want, have,
                        first + ep() > have ? fmt::format("ep: {} at most", have - first)
                                            : fmt::format("ep_groups: {} at most", (have - first) / ep())));
    std::uint64_t const divided = workload.batch_per_rank();
    if (divided % workload.microbatches() != 0)
        problems.push_back(fmt::format(
            "{} = {} (a batch of {} sequences per rank does not divide into {} micro-batches) use {}, or a batch of {}",
            locate(*loaded_, "workload.microbatches"), workload.microbatches(), divided, workload.microbatches(),
            nearest_divisors(divided, workload.microbatches()),
            (divided / workload.microbatches() + 1) * workload.microbatches()));
    if (workload.moe_layers() > model_.moe_layers())
        problems.push_back(fmt::format("{} = {} (the model has {} MoE layers) use {} or 0 for the whole model",
                                       locate(*loaded_, "workload.moe_layers"), workload.moe_layers(),
                                       model_.moe_layers(), model_.moe_layers()));
    if (workload.experts().shared() == "dedicated" && model_.shared_experts == 0)
        problems.push_back(fmt::format("{} = dedicated (the model has no shared expert) use local",
                                       locate(*loaded_, "workload.experts.shared")));
}

std::vector<StepPlan::Layer> MoeStep::layers() const {
    auto const limit = spec().moe_layers();
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

void MoeStep::price_layers() {
    auto const& workload = spec();
    auto const phase = phase_of(workload);
    device_ = make_device(loaded_->scenario.device());
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
    local_shared_ = workload.experts().shared() == "local" && model_.shared_experts > 0;
    if (local_shared_) prices_.shared_expert = price_shared_expert(device_, model_, tokens_per_microbatch_);
    if (model_.dense_width > 0) prices_.dense_ffn = price_dense_ffn(device_, model_, tokens_per_microbatch_);
    expert_pricer_.emplace(device_, model_);
}

void MoeStep::place_experts() {
    auto const& workload = spec();
    auto const simulated = layers();
    auto const moe_layers = static_cast<std::uint32_t>(
        std::count_if(simulated.begin(), simulated.end(), [](auto const& layer) { return layer.moe; }));
    routing_ =
        make_routing_source(make_routing_setup(workload.routing(), model_, moe_layers, loaded_->scenario.seed()));
    auto const setup = make_placement_setup(workload.experts(), model_, ep(), moe_layers, fabric_->ranks_per_block());
    placement_.emplace(make_placement(setup, *routing_));
    matrices_.emplace(*routing_, *placement_,
                      MatrixShape{tokens_per_microbatch_, workload.microbatches(), model_.top_k});
    for (auto const& list : {model_.warnings, placement_->warnings(), routing_->warnings()})
        warnings_.insert(warnings_.end(), list.begin(), list.end());
}

void MoeStep::plan_step() {
    auto const& workload = spec();
    OperatorInputs const inputs{model_.expert_hidden, device_.vector_cores};
    dispatch_ = make_plan(workload.operators(), OpKind::dispatch, inputs);
    combine_ = make_plan(workload.operators(), OpKind::combine, inputs);
    plan_.emplace(layers(), workload.microbatches(),
                  local_shared_ ? StepPlan::SharedExpert::local : StepPlan::SharedExpert::none,
                  StepPlan::Costs{.gate = prices_.gate.duration,
                                  .shared_expert = prices_.shared_expert.duration,
                                  .dense_ffn = prices_.dense_ffn.duration,
                                  .dispatch_launch = dispatch_.launch,
                                  .combine_launch = combine_.launch,
                                  .experts = [this](std::uint32_t messages, std::uint32_t active) {
                                      return expert_pricer_->experts_time(messages, active);
                                  }});
}

void MoeStep::lay_out() {
    for (std::uint32_t group = 0; group < groups(); ++group) layouts_.emplace_back(*fabric_, place(group * ep()), ep());
}

std::vector<DomainId> MoeStep::domains() const {
    std::set<DomainId> used;
    for (auto const& layout : layouts_)
        for (auto const& part : layout.parts()) used.insert(part.domain);
    return {used.begin(), used.end()};
}

std::unique_ptr<SiteMap> MoeStep::make_sites() const {
    std::vector<RankId> first_ranks;
    for (std::uint32_t group = 0; group < groups(); ++group) first_ranks.push_back(place(group * ep()));
    return std::make_unique<SiteMap>(*fabric_, layouts_, first_ranks);
}

Workload::Delay MoeStep::least_delay(Job const& job) {
    auto least = std::min({Delay{dispatch_.launch, "launch of dispatch"}, Delay{combine_.launch, "launch of combine"},
                           Delay{dispatch_.finish, "finish of dispatch"}, Delay{combine_.finish, "finish of combine"}},
                          [](auto const& a, auto const& b) { return a.time < b.time; });
    if (job.scenario().network().model() != "packet") return least;
    auto const packet_notice = job.packet_notice();
    // A transfer is told when its last packet has arrived, and its sender's end counts from the departure.
    auto const shortest = std::min(dispatch_.finish, combine_.finish);
    auto const finish = shortest - packet_notice;
    ORRERY_VALIDATE(finish >= Time::from_ps(100'000),
                    "workload.operators: a finish of {} (the packet model tells the end of a transfer up to {} late) "
                    "use a longer finish or the flow model",
                    to_string(shortest), to_string(packet_notice));
    return finish < least.time ? Delay{finish, "finish less the longest route"} : least;
}

std::int64_t MoeStep::exchanges() const {
    return 2 * static_cast<std::int64_t>(spec().microbatches()) * plan_->moe_layers();
}

// Distinct targets of one rank when its messages fall at random: ep * (1 - (1 - 1/ep)^messages).
std::int64_t MoeStep::flows_per_exchange() const {
    auto const messages = static_cast<double>(tokens_per_microbatch_) * matrices_->messages_per_token();
    auto const distinct = ep() * (1 - std::pow(1 - 1.0 / ep(), messages)) * (1 - 1.0 / ep());
    return static_cast<std::int64_t>(distinct * ranks());
}

Workload::Estimate MoeStep::estimate(Job const& job) const {
    Estimate estimate{.flows = expected_flows(), .operation_rows = operations()};
    // Per rank and exchange: post, end and start. The solver wakes once per completion when shares are exact; else
    // many transfers complete together (one wake per twelve, measured on the shipped scenarios).
    estimate.events = estimate.operation_rows + static_cast<std::int64_t>(ranks()) * exchanges() * 3 +
                      (job.flow_error_ppm() == 0 ? estimate.flows : estimate.flows / 12);
    if (job.sites()) estimate.events += 2 * estimate.flows;  // notices, measured: one to three per transfer in all
    // Micro-batches overlap a dispatch with a combine. An active flow of two links: its record, two places, two entries
    // in link lists and one in a heap (140 B, vectors half empty: 170), and its offer at the instant of its start; at a
    // site twice that, since both ends serve it.
    estimate.flows_at_once = flows_per_exchange() * std::min<std::int64_t>(spec().microbatches(), 2);
    estimate.flow_bytes = job.sites() ? 390 : 200;
    estimate.memory_bytes =
        static_cast<std::int64_t>(ranks()) * 1500 + static_cast<std::int64_t>(ep()) * ep() * groups() * 16;
    return estimate;
}

// One event per operation and rank; what carries exchanges handles about two events per member and exchange beside its
// solver, whose cost goes with the pairs.
void MoeStep::add_to_graph(Job const& job, LpGraph& graph) const {
    std::fill_n(graph.weight.begin(), ranks(), plan_->operations_per_rank());
    if (job.sites())
        add_sites_to_graph(job, graph);
    else
        add_domains_to_graph(job, graph);
}

void MoeStep::add_domains_to_graph(Job const& job, LpGraph& graph) const {
    for (std::uint32_t group = 0; group < groups(); ++group)
        for (auto const& part : layouts_[group].parts()) {
            auto const lp = job.lp_of(part.domain);
            graph.weight[lp.index()] += static_cast<std::int64_t>(part.participants) * ep() * exchanges() / 4;
            for (std::uint32_t m = 0; m < ep(); ++m)
                if (part.senders_to[m] > 0)
                    graph.edges.push_back({LpId{group * ep() + m}, lp, job.lookahead(), exchanges()});
        }
}

void MoeStep::add_sites_to_graph(Job const& job, LpGraph& graph) const {
    auto const& sites = *job.sites();
    for (std::uint32_t s = 0; s < sites.count(); ++s)
        for (auto const peer : sites.site(SiteId{s}).peers)
            if (peer.value() > s)
                graph.edges.push_back(
                    {job.lp_of(SiteId{s}), job.lp_of(peer), sites.notice(), exchanges() * sites.site(SiteId{s}).ranks});
    for (std::uint32_t group = 0; group < groups(); ++group)
        for (auto const& part : layouts_[group].parts())
            for (std::uint32_t m = 0; m < ep(); ++m) {
                if (part.senders_to[m] == 0) continue;
                auto const rank = group * ep() + m;
                auto const lp = job.lp_of(sites.site_of(part.domain, place(rank)));
                // Each transfer is served where it leaves and where it arrives.
                graph.weight[lp.index()] += std::int64_t{part.senders_to[m]} * exchanges() / 2;
                graph.edges.push_back({LpId{rank}, lp, job.lookahead(), exchanges()});
            }
}

std::unique_ptr<WorkloadRun> MoeStep::make_run(Wiring wiring) const {
    return std::make_unique<MoeStepRun>(*this, std::move(wiring));
}

}  // namespace orrery
