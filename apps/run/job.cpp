// SPDX-License-Identifier: Apache-2.0
#include "apps/run/job.hpp"

#include "apps/run/moe_step.hpp"
#include "apps/run/packet_settings.hpp"
#include "apps/run/schedule_workload.hpp"
#include "io/scenario/quantity.hpp"
#include "netmodels/topology/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// A message that lists many links: its beginning and its end.
std::string shorten_message(std::string const& text) {
    constexpr std::size_t most = 400, kept = 190;
    return text.size() <= most ? text : text.substr(0, kept) + " ... " + text.substr(text.size() - kept);
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
    if (fabric_) attempt([&] { build_workload(problems); });
    if (problems.empty()) attempt([this] { number_carriers(); });
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
    warnings_.insert(warnings_.end(), fabric->notes().begin(), fabric->notes().end());
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

void Job::build_workload(std::vector<std::string>& problems) {
    if (scenario().workload().kind() != "moe_step")
        workload_ = std::make_unique<ScheduleWorkload>(loaded_, *fabric_, problems);
    else
        workload_ = std::make_unique<MoeStep>(loaded_, *fabric_, problems);
    if (!problems.empty()) return;
    auto const said = workload_->warnings();
    warnings_.insert(warnings_.end(), said.begin(), said.end());
}

MoeStep const& Job::moe_step() const {
    auto const* step = dynamic_cast<MoeStep const*>(workload_.get());
    ORRERY_ENSURE(step, "the workload is no MoE step");
    return *step;
}

void Job::number_carriers() {
    try {
        workload_->lay_out();
    } catch (InputError const& error) {  // two ranks have no way to each other
        throw InputError(fmt::format("{}: {}", degradations_.empty() ? "fabric" : degradations_.front().where,
                                     shorten_message(error.what())));
    }
    domains_ = workload_->domains();
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
    sites_ = workload_->make_sites();
    ORRERY_VALIDATE(sites_, "{} = delayed (sites carry the exchanges of workload.kind=moe_step only) use exact", where);
    solvers_text_ = sites_->notice() == Time::infinity()
                        ? fmt::format("{} sites without notices", sites_->count())
                        : fmt::format("{} sites with notices {} late", sites_->count(), to_string(sites_->notice()));
}

void Job::choose_lookahead() {
    if (scenario().network().model() == "packet") {
        packet_ = make_packet_settings(scenario());
        packet_.timetable =
            link_timetable_of(scenario().fabric(), scenario().seed(), degradations_of(scenario().fabric()));
        check_trace(packet_.trace, *fabric_);
        packet_.prompt = scenario().workload().kind() != "moe_step";  // its messages depend on each other
    }
    auto least = workload_->least_delay(*this);
    if (sites_ && sites_->notice() < least.time) least = {sites_->notice(), "notice between sites"};
    lookahead_ = least.time;
    lookahead_reason_ = fmt::format("{} ({})", to_string(least.time), least.reason);
}

void Job::choose_error() {
    auto const& error = scenario().network().flow().error();
    constexpr std::int64_t exact_up_to = 2'000'000;  // flows: some ten CPU seconds in groups of hundreds of ranks
    auto const flows = workload_->expected_flows();
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
    bool const many = scenario().network().flow().error() == "auto" && workload_->expected_flows() > few;
    if (!sites_ || sites_->notice() == Time::infinity() || (flow_error_ppm_ == 0 && !many)) return {};
    return sites_->notice();
}

// Sites tell each other of an end before it is a row, and look at finishes once per epoch, which is a notice.
Time Job::row_delay() const {
    auto delay = workload_->row_delay();
    if (scenario().network().model() == "packet") delay += packet_notice();
    if (sites_ && sites_->notice() != Time::infinity()) delay += 3 * sites_->notice();
    return delay;
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
    graph_.weight.assign(lp_count(), 1);
    graph_.block.resize(lp_count());
    auto const per_block = std::max(1U, fabric_->ranks_per_block());
    std::uint32_t blocks = 0;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
        graph_.block[r] = workload_->place(r).value() / per_block;
        blocks = std::max(blocks, graph_.block[r] + 1);
    }
    // A site stays with its ranks where it can.
    for (std::uint32_t i = 0; i < carriers(); ++i)
        graph_.block[ranks() + i] = sites_ ? sites_->site(SiteId{i}).first_rank.value() / per_block : blocks + i;
    workload_->add_to_graph(*this, graph_);
}

std::string Job::lp_name(LpId lp) const {
    if (lp.value() < ranks()) return fabric_->rank_name(workload_->place(lp.value()));
    if (!sites_) return fabric_->domain_name(domains_[lp.index() - ranks()]);
    auto const& site = sites_->site(SiteId{lp.value() - ranks()});
    return fmt::format("{} at {}", fabric_->domain_name(site.domain), fabric_->rank_name(site.first_rank));
}

std::string Job::way_text(RankId source, RankId target) const {
    auto text = fmt::format("from rank {} to rank {} over", source.value(), target.value());
    auto const way = fabric_->route(source, target);
    for (auto const hop : way.bundles()) text += " " + fabric_->bundle_name(hop);
    return text;
}

Job::Estimate Job::estimate() const {
    auto estimate = workload_->estimate(*this);
    for (auto const domain : domains_)
        estimate.flow_links += static_cast<std::int64_t>(domain_map_->bundles(domain).size());
    estimate.flow_link_bytes = 300;
    estimate.memory_bytes += 40'000'000 + estimate.solver_bytes() +
                             static_cast<std::int64_t>(fabric_->links().size()) * 40 +
                             static_cast<std::int64_t>(fabric_->bundles().size()) * 400;
    return estimate;
}

}  // namespace orrery
