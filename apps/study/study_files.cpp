// SPDX-License-Identifier: Apache-2.0
#include "apps/study/study_files.hpp"

#include "io/timeline/atomic_file.hpp"
#include "io/timeline/columns.hpp"

#include <fmt/format.h>

#include <numeric>
#include <span>

namespace orrery {
namespace {

std::string quoted(std::string const& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string links_used(StudyCell::Figures const& figures) {
    std::string text;
    for (auto const& [link_class, mean] : figures.mean_links_used)
        text += fmt::format("{}{}={:.6g}", text.empty() ? "" : " ", link_class, mean);
    return text;
}

std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

std::string status(StudyCell const& cell) {
    if (cell.failed > 0) return fmt::format("{} of {} failed", cell.failed, cell.members);
    if (cell.missing > 0) return fmt::format("{} of {} not run", cell.missing, cell.members);
    return "complete";
}

void write_members(hdf5::Group& file, StudyResult const& study) {
    auto const listed = numbers(study.results.size());
    Columns members(file.create_group("members"), listed);
    members.group().set_attribute("long_name", "every member: seeds fastest, the last axis next");
    MemberResult const none;
    auto const of = [&](std::uint32_t m) -> MemberResult const& { return study.results[m] ? *study.results[m] : none; };
    for (std::size_t a = 0; a < study.plan.axes.size(); ++a)
        members.write_text(study.plan.axes[a].name.c_str(), "variant of this axis", [&](auto m) {
            return study.plan.axes[a].variants[study.plan.variants_of(study.plan.cell_of(m))[a]].name;
        });
    members.write("seed", "1", "seed", [&](auto m) { return static_cast<std::int64_t>(study.plan.seed_of(m)); });
    members.write("step", "ps", "step time; 0: it failed or has not run", [&](auto m) { return of(m).step_ps; });
    members.write("ideal", "ps", "step with no waiting and every exchange at its bound",
                  [&](auto m) { return of(m).ideal_ps; });
    members.write("hot_use", "1", "mean use of the hottest link", [&](auto m) { return of(m).hot_use; });
    members.write_text("hot_link", "the hottest link", [&](auto m) { return of(m).hot_link; });
    members.write_text("digest", "digest of the run", [&](auto m) { return of(m).digest; });
    members.write_text("error", "why it failed; empty: it did not", [&](auto m) { return of(m).error; });
}

void write_cells(hdf5::Group& file, StudyResult const& study) {
    auto const& cells = study.summary.cells;
    auto const listed = numbers(cells.size());
    Columns table(file.create_group("table"), listed);
    table.group().set_attribute("long_name",
                                "one row per combination, over its seeds; no figures where a member failed");
    StudyCell::Figures const none;
    auto const of = [&](std::uint32_t c) -> StudyCell::Figures const& {
        return cells[c].figures ? *cells[c].figures : none;
    };
    for (std::size_t a = 0; a < study.plan.axes.size(); ++a)
        table.write_text(study.plan.axes[a].name.c_str(), "variant of this axis",
                         [&](auto c) { return study.plan.axes[a].variants[cells[c].variants[a]].name; });
    table.write_text("status", "complete, or what is missing", [&](auto c) { return status(cells[c]); });
    table.write("p5", "ps", "5th percentile of the step over the seeds", [&](auto c) { return of(c).p5_ps; });
    table.write("p50", "ps", "median", [&](auto c) { return of(c).p50_ps; });
    table.write("p95", "ps", "95th percentile", [&](auto c) { return of(c).p95_ps; });
    table.write("of_bound", "1", "ideal over step, of the median seed", [&](auto c) { return of(c).of_bound; });
    table.write("worst_seed", "1", "the seed with the longest step",
                [&](auto c) { return static_cast<std::int64_t>(study.plan.seed_of(of(c).worst)); });
    table.write_text("hottest_class", "class of the hottest link", [&](auto c) { return of(c).hottest_class; });
    table.write("hottest_use", "1", "its mean use", [&](auto c) { return of(c).hottest_use; });
    table.write("goodput", "B/s", "payload delivered over the step", [&](auto c) { return of(c).goodput_bytes_per_s; });
    table.write("affected_ranks", "1", "ranks that end later than without the failure; -1: not asked",
                [&](auto c) { return of(c).affected_ranks.value_or(-1); });
    table.write("cost", "1", "price of the fabric; 0: no prices were given",
                [&](auto c) { return of(c).cost.value_or(0); });
    table.write_text("links_used", "mean number of links that carried anything, by class",
                     [&](auto c) { return links_used(of(c)); });
}

}  // namespace

void write_study_csv(std::filesystem::path const& path, StudyResult const& study) {
    std::string text;
    for (auto const& axis : study.plan.axes) text += quoted(axis.name) + ',';
    text +=
        "seeds,status,p5_s,p50_s,p95_s,of_bound,worst_seed,worst_digest,hottest_class,hottest_link,hottest_use,"
        "goodput_bytes_per_s,affected_ranks,cost,cost_times_step,links_used\n";
    for (auto const& cell : study.summary.cells) {
        for (std::size_t a = 0; a < cell.variants.size(); ++a)
            text += quoted(study.plan.axes[a].variants[cell.variants[a]].name) + ',';
        text += fmt::format("{},{}", cell.members, status(cell));
        if (auto const& f = cell.figures) {
            auto const seconds = [](std::int64_t ps) { return static_cast<double>(ps) * 1e-12; };
            text += fmt::format(",{:.9g},{:.9g},{:.9g},{:.6g},{},{},{},{},{:.6g},{:.6g}", seconds(f->p5_ps),
                                seconds(f->p50_ps), seconds(f->p95_ps), f->of_bound, study.plan.seed_of(f->worst),
                                f->worst_digest, quoted(f->hottest_class), quoted(f->hottest_link), f->hottest_use,
                                f->goodput_bytes_per_s);
            text += f->affected_ranks ? fmt::format(",{}", *f->affected_ranks) : ",";
            text += f->cost ? fmt::format(",{:.9g},{:.9g}", *f->cost, *f->cost * seconds(f->p50_ps)) : ",,";
            text += ',' + quoted(links_used(*f));
        } else {
            text += std::string(14, ',');
        }
        text += '\n';
    }
    replace_file(path, std::as_bytes(std::span(text)));
}

void write_study_h5(std::filesystem::path const& path, StudyResult const& study) {
    auto temporary = path;
    temporary += ".tmp";
    auto file = hdf5::File::create(temporary, hdf5::Format::compatible);
    file.set_attribute("format", "orrery study");
    file.set_attribute("format_version", std::int64_t{1});
    file.set_attribute("name", study.plan.name);
    file.set_attribute("scenario", study.plan.scenario.string());
    file.set_attribute("complete", std::int64_t{study.summary.complete()});
    write_members(file, study);
    write_cells(file, study);
    file.close();
    publish_file(temporary, path);
}

Json study_page(StudyResult const& study) {
    auto axes = Json::array(), cells = Json::array();
    for (auto const& axis : study.plan.axes) {
        auto variants = Json::array();
        for (auto const& variant : axis.variants) variants.push_back({{"name", variant.name}, {"sets", variant.sets}});
        axes.push_back({{"name", axis.name}, {"variants", variants}});
    }
    for (auto const& cell : study.summary.cells) {
        Json json{{"variants", cell.variants}, {"status", status(cell)}, {"error", cell.first_error}};
        if (auto const& f = cell.figures) {
            json.update({{"p5_ps", f->p5_ps},
                         {"p50_ps", f->p50_ps},
                         {"p95_ps", f->p95_ps},
                         {"of_bound", f->of_bound},
                         {"worst_seed", study.plan.seed_of(f->worst)},
                         {"worst_digest", f->worst_digest},
                         {"replay", study.plan.replay(f->worst)},
                         {"hottest_class", f->hottest_class},
                         {"hottest_link", f->hottest_link},
                         {"hottest_use", f->hottest_use},
                         {"goodput", f->goodput_bytes_per_s},
                         {"links_used", links_used(*f)}});
            if (f->affected_ranks) json["affected_ranks"] = *f->affected_ranks;
            if (f->cost) json["cost"] = *f->cost;
        }
        cells.push_back(json);
    }
    return {{"kind", "study"},
            {"name", study.plan.name},
            {"scenario", study.plan.scenario.filename().string()},
            {"seeds", study.plan.seeds},
            {"members", study.plan.members()},
            {"failed", study.summary.failed},
            {"missing", study.summary.missing},
            {"axes", axes},
            {"has_failures", study.plan.has_failures},
            {"cells", cells}};
}

std::string study_text(StudyResult const& study) {
    std::string text;
    for (auto const& axis : study.plan.axes) text += fmt::format("{:<18} ", axis.name);
    text +=
        fmt::format("{:>10} {:>10} {:>10} {:>9} {:>6}  {}\n", "p5", "p50", "p95", "of bound", "worst", "hottest tier");
    for (auto const& cell : study.summary.cells) {
        for (std::size_t a = 0; a < cell.variants.size(); ++a)
            text += fmt::format("{:<18} ", study.plan.axes[a].variants[cell.variants[a]].name);
        if (auto const& f = cell.figures)
            text +=
                fmt::format("{:>10} {:>10} {:>10} {:>8.1f}% {:>6}  {} {:.1f} %\n", to_string(Time::from_ps(f->p5_ps)),
                            to_string(Time::from_ps(f->p50_ps)), to_string(Time::from_ps(f->p95_ps)), f->of_bound * 100,
                            study.plan.seed_of(f->worst), f->hottest_class, f->hottest_use * 100);
        else
            text +=
                fmt::format("FAILED: {}{}\n", status(cell), cell.first_error.empty() ? "" : ": " + cell.first_error);
    }
    return text;
}

}  // namespace orrery
