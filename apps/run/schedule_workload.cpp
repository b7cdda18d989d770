// SPDX-License-Identifier: Apache-2.0
#include "apps/run/schedule_workload.hpp"

#include "apps/run/collective_part.hpp"
#include "apps/run/job.hpp"
#include "apps/run/schedule_run.hpp"
#include "netmodels/exchange/domains_crossed.hpp"
#include "workloads/schedule/schedule_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace orrery {

ScheduleWorkload::ScheduleWorkload(LoadedScenario const& loaded, Fabric const& fabric,
                                   std::vector<std::string>& problems)
    : loaded_(&loaded), fabric_(&fabric), planner_(std::make_unique<FabricPlanner>(fabric)) {
    std::vector<PlacedSchedule::Part> parts;
    auto const attempt = [&problems](auto const& step) {
        try {
            step();
        } catch (InputError const& error) {
            problems.emplace_back(error.what());
        }
    };
    if (loaded.scenario.workload().kind() == "collective")
        attempt([&] { parts.push_back(collective_part(loaded, fabric)); });
    auto const& spec = loaded.scenario.workload().schedule();
    if (loaded.scenario.workload().kind() == "schedule")
        attempt(
            [&] { read("workload.schedule", spec.file(), {spec.first_rank(), spec.stride()}, spec.import(), parts); });
    for (int i = 0; i < spec.more_size(); ++i)
        attempt([&] {
            auto const& more = spec.more(i);
            read(fmt::format("workload.schedule.more[{}]", i), more.file(), {more.first_rank(), more.stride()},
                 more.import(), parts);
        });
    if (problems.empty()) attempt([&] { schedule_ = std::make_unique<PlacedSchedule>(std::move(parts)); });
}

ScheduleWorkload::ScheduleWorkload(LoadedScenario const& loaded, Fabric const& fabric,
                                   std::vector<PlacedSchedule::Part> parts)
    : loaded_(&loaded),
      fabric_(&fabric),
      schedule_(std::make_unique<PlacedSchedule>(std::move(parts))),
      planner_(std::make_unique<FabricPlanner>(fabric)) {}

ImportOptions ScheduleWorkload::import_options(scenario::ImportSpec const& spec, Placing placing) const {
    auto const there = fabric_->rank_count();
    return {.strictness = spec.lenient() ? Strictness::lenient : Strictness::strict,
            .ranks = spec.ranks(),
            .available = there > placing.first_rank ? (there - 1 - placing.first_rank) / placing.stride + 1 : 0,
            .seed = loaded_->scenario.seed(),
            .topology = spec.topology(),
            .fabric_file = loaded_->scenario.fabric().kind() == "file" ? loaded_->scenario.fabric().file().path() : "",
            .groups = spec.groups(),
            .system = spec.system(),
            .device = make_device(loaded_->scenario.device()),
            .load = spec.load(),
            .host_rate = Rate::from_bits_per_s(spec.host_rate()),
            .duration = Time::from_ps(spec.duration()),
            .eager_bytes = spec.eager_bytes(),
            .passes = spec.passes(),
            .first_dimension = spec.first_dimension()};
}

void ScheduleWorkload::read(std::string const& where, std::string const& file, Placing placing,
                            scenario::ImportSpec const& spec, std::vector<PlacedSchedule::Part>& parts) {
    auto const [first_rank, stride] = placing;
    auto [schedule, report] = import_file(file, import_options(spec, placing));
    auto const last = first_rank + (schedule->ranks() - std::uint64_t{1}) * stride;
    ORRERY_VALIDATE(last < fabric_->rank_count(),
                    "{} (its {} ranks from {} on in steps of {} end at rank {} and the fabric has {}) use a larger "
                    "fabric, or other first_rank and stride",
                    locate(*loaded_, where + ".file"), schedule->ranks(), first_rank, stride, last,
                    fabric_->rank_count());
    PlacedSchedule::Part part{.schedule = std::move(schedule), .name = file, .place = {}};
    for (std::uint32_t r = 0; r < part.schedule->ranks(); ++r) part.place.emplace_back(first_rank + r * stride);
    parts.push_back(std::move(part));
    formats_.push_back(report.format);
    for (auto const& note : notes_of(report)) notes_.push_back(fmt::format("{}: {}", file, note));
}

CollectiveWish ScheduleWorkload::wish(std::uint32_t collective) const {
    return wish_of(schedule_->collective(collective));
}

void ScheduleWorkload::lay_out() {
    for (std::uint32_t group = 0; group < schedule_->group_count(); ++group) {
        std::vector<RankId> ranks;
        for (auto const rank : schedule_->group(group)) ranks.push_back(place(rank));
        group_domains_.push_back(domains_crossed(*fabric_, ranks));
    }
    count_programs();
    count_collectives();
    std::set<DomainId> used;
    for (auto const& traffic : traffic_) used.insert(traffic.domain);
    for (auto const& crossed : group_domains_) used.insert(crossed.begin(), crossed.end());
    domains_.assign(used.begin(), used.end());
}

// Per rank: its tasks, and the events of its messages in every domain.
void ScheduleWorkload::count_programs() {
    std::map<DomainId, std::int64_t> events;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
        auto const program = schedule_->program(rank);
        auto const tasks = static_cast<std::int64_t>(program.tasks().size());
        tasks_ += tasks;
        rank_weight_.push_back(std::max<std::int64_t>(tasks, 1));  // a rank may have nothing to do
        events.clear();
        for (auto const& task : program.tasks()) {
            if (task.kind == TaskKind::collective)
                for (auto const domain : group_domains_[group_of(task.peer)]) events[domain] += 2;
            if (task.kind != TaskKind::send || task.peer == rank) continue;
            events[fabric_->route(place(rank), place(task.peer)).domain] += 3;
            ++messages_;
        }
        for (auto const& [domain, count] : events) traffic_.push_back({rank, domain, count});
    }
    flows_ = messages_;
    most_at_once_ = std::min<std::int64_t>(messages_, ranks());
}

// The messages of collectives, by what one member sends: alike collectives are counted once.
void ScheduleWorkload::count_collectives() {
    using Alike = std::tuple<std::uint32_t, CollectiveOp, std::int64_t, std::string>;
    struct Count {
        std::int64_t sends = 0, at_once = 0;
    };
    std::map<Alike, Count> counted;
    SendList sends;
    for (std::uint32_t c = 0; c < schedule_->collective_count(); ++c) {
        auto const& spec = schedule_->collective(c);
        auto const [at, fresh] = counted.try_emplace({spec.group, spec.op, spec.bytes, spec.algorithm});
        auto& count = at->second;
        auto const members = static_cast<std::int64_t>(schedule_->group(spec.group).size());
        if (fresh) {
            std::vector<RankId> ranks;
            for (auto const rank : schedule_->group(spec.group)) ranks.push_back(place(rank));
            auto const planned = planner_->plan(wish(c), ranks);
            for (std::uint32_t lane = 0; lane < planned.plan->lanes(); ++lane)
                for (std::uint32_t step = 0; step < planned.plan->steps(); ++step) {
                    sends.clear();
                    planned.plan->sends(0, lane, step, sends);
                    auto const now = static_cast<std::int64_t>(sends.sends().size());
                    ORRERY_VALIDATE(
                        loaded_->scenario.network().model() != "packet" || now == 0 ||
                            sends.sends().front().way == Way::whole,
                        "collective {}: {} reduces in switches (the packet model knows no such packets) use "
                        "another algorithm or the flow model",
                        c, planned.algorithm);
                    count.sends += now;
                    count.at_once = std::max(count.at_once, now);
                }
        }
        flows_ += count.sends * members;
        most_at_once_ = std::max(most_at_once_, count.at_once * members);
    }
}

namespace {

// How long before an arrival the packet model tells it: half the latency of the fastest link, or, where only the
// arrival itself decides, up to a window after it; a window is no wider than the fastest link into a switch.
Time told_ahead(Fabric const& fabric, std::span<DomainId const> domains, PacketSettings const& settings) {
    std::map<DomainId, Time> fastest, window;
    for (auto const domain : domains) fastest[domain] = window[domain] = Time::infinity();
    for (auto const& link : fabric.links()) {
        auto const domain = fabric.bundles()[link.bundle.index()].domain;
        if (!fastest.contains(domain)) continue;
        fastest[domain] = std::min(fastest[domain], link.latency);
        if (fabric.nodes()[link.to.index()].kind != NodeKind::endpoint)
            window[domain] = std::min(window[domain], link.latency);
    }
    auto ahead = Time::infinity();
    bool const certain = settings.recovery != Recovery::go_back_n && settings.transport != "receiver_credit";
    for (auto const domain : domains) {
        bool const early = certain && fastest[domain] > Time::from_ps(1);
        ahead = std::min(ahead, early ? Time::from_ps(fastest[domain].ps() / 2) : Time{} - window[domain]);
    }
    return ahead == Time::infinity() ? Time{} : ahead;
}

}  // namespace

Workload::Delay ScheduleWorkload::least_delay(Job const& job) {
    auto const& spec = loaded_->scenario.network().messages();
    bool const many = std::any_of(group_domains_.begin(), group_domains_.end(),
                                  [](auto const& crossed) { return crossed.size() > 1; });
    auto const latency = least_route_latency(*fabric_);
    auto const ahead = loaded_->scenario.network().model() == "packet"
                           ? told_ahead(*fabric_, domains_, job.packet_settings())
                           : latency;
    // The least that can be followed: a quarter of the shortest way for every event, where nothing is known ahead.
    bool const nothing_ahead = ahead <= Time{};
    auto const hop = Time::from_ps(std::max<std::int64_t>(latency.ps() / 4, 1000));
    auto const least_send = nothing_ahead ? hop : Time{};
    auto const least_receive = nothing_ahead ? hop - ahead : Time{};
    auto const send = spec.has_send_overhead() ? Time::from_ps(spec.send_overhead()) : least_send;
    auto const receive = spec.has_receive_overhead() ? Time::from_ps(spec.receive_overhead()) : least_receive;
    timing_ = MessageTiming::make(
        {.send_overhead = send, .receive_overhead = receive, .known_ahead = ahead, .many_domains = many});
    ORRERY_VALIDATE(
        timing_.lookahead > Time{},
        "network.messages: a send_overhead of {} and a receive_overhead of {} (an arrival is known {} after "
        "it, and an effect needs some time behind its cause) use at least {} and {}, or leave both out",
        to_string(send), to_string(receive), to_string(Time{} - ahead), to_string(least_send),
        to_string(least_receive));
    return {timing_.lookahead, "the shortest way and the overheads of messages"};
}

Workload::Estimate ScheduleWorkload::estimate(Job const& job) const {
    Estimate estimate{.flows = flows_, .operation_rows = tasks_};
    // Each task has an event or two at its rank, a message three and the solver's; transfers of a collective that are
    // alike complete together.
    estimate.events = 2 * tasks_ + 4 * messages_ + (flows_ - messages_) / (job.flow_error_ppm() == 0 ? 4 : 16);
    estimate.flows_at_once = most_at_once_;
    estimate.flow_bytes = 240;  // its record in the solver (200 B) and the domain's
    estimate.memory_bytes = static_cast<std::int64_t>(ranks()) * 700 + tasks_ * 160;
    return estimate;
}

void ScheduleWorkload::add_to_graph(Job const& job, LpGraph& graph) const {
    std::copy(rank_weight_.begin(), rank_weight_.end(), graph.weight.begin());
    for (auto const& traffic : traffic_) {
        auto const lp = job.lp_of(traffic.domain);
        graph.weight[lp.index()] += traffic.events;
        graph.edges.push_back({LpId{traffic.rank}, lp, job.lookahead(), traffic.events});
    }
    // The steps of collectives are made in every domain that they cross.
    for (auto const domain : domains_)
        graph.weight[job.lp_of(domain).index()] +=
            1 + (flows_ - messages_) / static_cast<std::int64_t>(domains_.size());
    for (std::size_t a = 0; a < domains_.size(); ++a)
        for (auto const& crossed : group_domains_)
            if (crossed.size() > 1 && crossed.front() == domains_[a]) {
                for (std::size_t b = 1; b < crossed.size(); ++b)
                    graph.edges.push_back({job.lp_of(crossed.front()), job.lp_of(crossed[b]), job.lookahead(), 1});
            }
}

std::unique_ptr<WorkloadRun> ScheduleWorkload::make_run(Wiring wiring) const {
    return std::make_unique<ScheduleRun>(*this, std::move(wiring));
}

std::string ScheduleWorkload::title() const {
    return schedule_->parts().size() == 1 ? "a schedule" : fmt::format("{} schedules", schedule_->parts().size());
}

std::string ScheduleWorkload::description() const {
    std::string text;
    for (std::size_t p = 0; p < schedule_->parts().size(); ++p) {
        auto const& part = schedule_->parts()[p];
        text += fmt::format("{} ({}): {} ranks, {} groups, {} collectives, on ranks {} to {}\n", part.name,
                            p < formats_.size() ? formats_[p] : "made", part.schedule->ranks(),
                            part.schedule->group_count(), part.schedule->collective_count(), part.place.front().value(),
                            part.place.back().value());
    }
    text += fmt::format("{} tasks, {} messages, about {} transfers of collectives\n", tasks_, messages_,
                        flows_ - messages_);
    for (int k = static_cast<int>(OpKind::all_reduce); k < op_kind_count; ++k)
        if (auto const how = formula(static_cast<OpKind>(k)); !how.empty())
            text += fmt::format("  {:<14} {}\n", name_of(static_cast<OpKind>(k)), how);
    return text + fmt::format("messages: {} before the first byte, {} after the last\n",
                              to_string(timing_.send_overhead), to_string(timing_.receive_overhead));
}

std::vector<ManifestEntry> ScheduleWorkload::manifest() const {
    std::string labels;
    for (auto const& label : schedule_->labels()) labels += label + "\n";
    return {{"labels", labels}};
}

std::optional<OpPrice> ScheduleWorkload::price(OpKind kind) const {
    if (kind != OpKind::compute) return std::nullopt;
    return OpPrice{.duration = {}, .bound_by = "as given", .formula = "the duration in the schedule"};
}

std::string ScheduleWorkload::formula(OpKind communication) const {
    if (communication < OpKind::all_reduce) return "overheads + latency of the way + bytes at the share of its links";
    for (std::uint32_t c = 0; c < schedule_->collective_count(); ++c) {
        auto const& spec = schedule_->collective(c);
        if (kind_of(spec.op) != communication) continue;
        std::vector<RankId> ranks;
        for (auto const rank : schedule_->group(spec.group)) ranks.push_back(place(rank));
        auto const planned = planner_->plan(wish(c), ranks);
        return fmt::format("{} ({}): {}", planned.algorithm, planned.reason, planned.plan->closed_form().text);
    }
    return {};
}

}  // namespace orrery
