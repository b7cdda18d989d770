// SPDX-License-Identifier: Apache-2.0
#include "apps/study/member.hpp"

#include "apps/report/ideal_step.hpp"
#include "apps/report/kinds.hpp"
#include "apps/run/no_timeline.hpp"
#include "apps/run/simulation.hpp"

#include <cmath>

namespace orrery {
namespace {

// Keeps when each rank ended, and nothing else.
class RankEnds final : public NoTimeline {
  public:
    explicit RankEnds(Job const& job) : ends_(job.fabric().rank_count()) {}

    using NoTimeline::add;
    void add(OperationRow const& row) override {
        auto& end = ends_[row.rank];
        end = std::max(end, row.end.ps());
    }

    std::vector<std::int64_t> take() { return std::move(ends_); }

  private:
    std::vector<std::int64_t> ends_;  // by rank of the fabric
};

// The fields that step_parts() reads.
Json operations_of(RunSink& sink) {
    auto operations = Json::array();
    auto const& statistics = sink.statistics();
    for (int k = 0; k < op_kind_count; ++k) {
        auto const kind = static_cast<OpKind>(k);
        auto const& bounds = sink.bounds(kind);
        if (statistics.count(kind) == 0) continue;
        bool const communicates = !computes(kind);
        auto const bound = bounds.exchanges > 0
                               ? static_cast<double>(bounds.sum_ps) * 1e-12 / static_cast<double>(bounds.exchanges)
                           : communicates ? 0.0
                                          : statistics.mean(kind).seconds();
        operations.push_back({{"name", name_of(kind)},
                              {"count", statistics.count(kind)},
                              {"mean_s", statistics.mean(kind).seconds()},
                              {"wait_mean_s", statistics.wait_mean(kind).seconds()},
                              {"exposed_share", communicates ? statistics.exposed_share(kind) : 1.0},
                              {"bound_s", bound}});
    }
    return operations;
}

void add_links(Job const& job, Simulation::Share const& share, MemberResult& result) {
    auto const& fabric = job.fabric();
    auto const bundles = fabric.bundles();
    std::size_t hottest = bundles.size();
    for (std::size_t b = 0; b < bundles.size(); ++b) {
        auto const bytes = share.bundle_bytes[b];
        if (bytes == 0) continue;
        auto const& link_class = fabric.link_classes()[bundles[b].link_class].name;
        auto const use = share_of_capacity(bytes, bundles[b].capacity.bits_per_s(), share.last_finish);
        ++result.used[link_class];
        auto& most = result.busiest[link_class];
        most = std::max(most, use);
        if (hottest == bundles.size() || use > result.hot_use) {
            hottest = b;
            result.hot_use = use;
            result.hot_class = link_class;
        }
    }
    if (hottest < bundles.size()) result.hot_link = fabric.bundle_name(BundleId{static_cast<std::uint32_t>(hottest)});
    auto const figures = fabric.figures();
    result.ranks = figures.ranks;
    result.switches = figures.switches;
    result.links = figures.links;
}

void simulate(StudyPlan const& plan, MemberResult& result) {
    Job const job(load_scenario(plan.scenario, plan.sets_of(result.member)));
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    RankEnds ends(job);
    Simulation simulation(job, owner, alone, ends, {});
    simulation.run();
    auto const share = simulation.share();
    if (share.unfinished_ranks > 0) {
        result.error = "the workload cannot finish:";
        for (auto const& line : simulation.waiting()) result.error += " " + line;
        return;
    }
    result.digest = share.digest.hex();
    result.step_ps = share.last_finish.ps();
    result.flows = share.transfers.flows;
    result.delivered_bytes = share.transfers.delivered_bytes;
    auto const parts = step_parts(operations_of(simulation.sink()), job.ranks(), share.last_finish.seconds(),
                                  job.scenario().workload().microbatches() > 1);
    result.ideal_ps = std::llround(parts.ideal_s * 1e12);
    add_links(job, share, result);
    if (plan.has_failures) result.rank_ends_ps = ends.take();
}

}  // namespace

MemberResult run_member(StudyPlan const& plan, std::uint64_t member) {
    MemberResult result;
    result.member = member;
    result.key = plan.key_of(member);
    auto const started = cpu_seconds();
    try {
        simulate(plan, result);
    } catch (std::bad_alloc const&) {
        result.error = "out of memory";
    } catch (std::exception const& error) {
        result.error = error.what();
    }
    result.cpu_s = cpu_seconds() - started;
    return result;
}

std::string to_line(MemberResult const& r) {
    Json json{{"member", r.member}, {"key", r.key}, {"cpu_s", r.cpu_s}};
    if (r.failed()) {
        json["error"] = r.error;
    } else {
        json.update({{"digest", r.digest},
                     {"step_ps", r.step_ps},
                     {"ideal_ps", r.ideal_ps},
                     {"flows", r.flows},
                     {"delivered_bytes", r.delivered_bytes},
                     {"hot_link", r.hot_link},
                     {"hot_class", r.hot_class},
                     {"hot_use", r.hot_use},
                     {"used", r.used},
                     {"busiest", r.busiest},
                     {"ranks", r.ranks},
                     {"switches", r.switches},
                     {"links", r.links},
                     {"rank_ends_ps", r.rank_ends_ps}});
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

MemberResult from_line(std::string const& line) {
    auto const json = Json::parse(line);
    MemberResult r;
    json.at("member").get_to(r.member);
    json.at("key").get_to(r.key);
    json.at("cpu_s").get_to(r.cpu_s);
    r.error = json.value("error", std::string{});
    if (r.failed()) return r;
    json.at("digest").get_to(r.digest);
    json.at("step_ps").get_to(r.step_ps);
    json.at("ideal_ps").get_to(r.ideal_ps);
    json.at("flows").get_to(r.flows);
    json.at("delivered_bytes").get_to(r.delivered_bytes);
    json.at("hot_link").get_to(r.hot_link);
    json.at("hot_class").get_to(r.hot_class);
    json.at("hot_use").get_to(r.hot_use);
    json.at("used").get_to(r.used);
    json.at("busiest").get_to(r.busiest);
    json.at("ranks").get_to(r.ranks);
    json.at("switches").get_to(r.switches);
    json.at("links").get_to(r.links);
    json.at("rank_ends_ps").get_to(r.rank_ends_ps);
    return r;
}

}  // namespace orrery
