// SPDX-License-Identifier: Apache-2.0
// The answer first: the step time, its parts, the ideal it is held against, and the link to look at.
#include "apps/report/ideal_step.hpp"
#include "apps/report/sections.hpp"

namespace orrery::page {
namespace {

Json hot_link(LinkColumns const& links, LinkPeaks const& peaks) {
    auto const rows = peaks.hottest(links);
    if (rows.empty()) return nullptr;
    auto const row = rows.front();
    auto const from = peaks.bin * peaks.when[row];
    return {{"name", links.name[row]},
            {"class", links.link_class[row]},
            {"mean", links.utilisation[row]},
            {"peak", peaks.share[row]},
            {"peak_from_ps", from.ps()},
            {"bin_ps", peaks.bin.ps()},
            {"bytes", links.wire_bytes[row]},
            {"alike", std::ranges::count_if(rows, [&](auto other) {
                 return links.link_class[other] == links.link_class[row] && peaks.share[other] > 0.9 * peaks.share[row];
             })}};
}

}  // namespace

Json answer(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks) {
    auto const& details = run.details();
    auto const parts = step_parts(run);
    auto shares = Json::array();
    for (auto const& part : parts.parts)
        shares.push_back({{"name", part.name},
                          {"seconds", part.seconds},
                          {"sort", name_of(part.sort)},
                          {"bound_by", part.bound_by},
                          {"bound_link", part.bound_link}});
    return {{"name", run.scenario().name()},
            {"step_s", run.step().seconds()},
            {"complete", run.integer("summary", "complete") == 1},
            {"ideal_s", parts.ideal_s},
            {"ideal_how", parts.ideal_how},
            {"shares", shares},
            {"hot", hot_link(links, peaks)},
            {"model", details.at("model")},
            {"fabric", details.at("fabric")},
            {"network", details.at("network_model")},
            {"ranks", details.at("ranks")},
            {"operations", details.at("operations")},
            {"ignored", details.at("ignored")},
            {"warnings", details.at("warnings")},
            {"flows", run.integer("summary", "flows")},
            {"imbalance", {run.real("summary", "imbalance_ranks"), run.real("summary", "imbalance_experts")}},
            {"digest", run.text("manifest", "digest")},
            {"version", run.text("manifest", "orrery_version")},
            {"command", run.text("run", "command")},
            {"scenario", run.text("manifest", "scenario")}};
}

Json missing(std::string const& why) {
    return {{"missing", why}};
}

}  // namespace orrery::page
