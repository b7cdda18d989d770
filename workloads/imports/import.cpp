// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/import.hpp"

#include "workloads/imports/foreign.hpp"
#include "workloads/imports/schedule_draft.hpp"
#include "workloads/imports/text_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace orrery {
namespace {

// A function-local table: it exists before the first registration, whatever the order of static initialisation.
std::map<std::string, Importer, std::less<>>& table() {
    static std::map<std::string, Importer, std::less<>> importers;
    return importers;
}

bool moves_bytes(Schedule const& schedule, ScheduleTask const& task) {
    if (task.kind == TaskKind::send) return task.bytes > 0;
    if (task.kind != TaskKind::collective) return false;
    auto const spec = schedule.collective(task.peer);
    return schedule.group(spec.group).size() > 1 && (spec.bytes > 0 || spec.pair_bytes != nullptr);
}

// A file without work, or without communication, is more often a wrong conversion than an intention.
void warn_of_emptiness(Schedule const& schedule, Findings& findings) {
    bool works = false;
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank)
        for (auto const program = schedule.program(rank); auto const& task : program.tasks()) {
            if (moves_bytes(schedule, task)) return;
            works = works || task.kind != TaskKind::compute || task.duration > Time{};
        }
    findings.warns(works ? "communication takes no time but latency: no message has bytes, and no collective has bytes "
                           "and two members"
                         : "no work is executed: no rank computes or communicates, and a run ends at time 0");
}

}  // namespace

ImporterRegistration::ImporterRegistration(Importer importer) {
    auto name = importer.name;
    bool const added = table().emplace(std::move(name), std::move(importer)).second;
    ORRERY_ENSURE(added, "two importers have one name");
}

std::vector<Importer const*> importers() {
    std::vector<Importer const*> list;
    for (auto const& entry : table()) list.push_back(&entry.second);
    return list;
}

Importer const& importer_of(std::filesystem::path const& path) {
    auto const head = head_of(path);
    for (auto const& entry : table())
        if (entry.second.recognises(path, head)) return entry.second;
    std::vector<std::string> titles;
    for (auto const& entry : table()) titles.push_back(entry.second.title);
    auto const what = foreign_kind(path, head);
    throw InputError(what.empty() ? fmt::format("{}: no importer knows this file (neither its content nor its name is "
                                                "that of a known format) give one of: {}",
                                                path.string(), fmt::join(titles, "; "))
                                  : fmt::format("{}: {}", path.string(), what));
}

std::vector<std::string> notes_of(ImportReport const& report) {
    std::vector<std::string> notes = report.warnings;
    for (auto const& entry : report.ignored)
        notes.push_back(fmt::format("not honoured: {} x {} (first: {})", entry.count, entry.what, entry.first));
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < std::min(most, report.mended.size()); ++i)
        notes.push_back(fmt::format("mended: {}", report.mended[i]));
    if (report.mended.size() > most)
        notes.push_back(
            fmt::format("mended: {} more (orrery import lists them)", report.mended_count - std::int64_t{most}));
    for (auto const& text : report.assumptions) notes.push_back(fmt::format("taken: {}", text));
    return notes;
}

Import import_file(std::filesystem::path const& path, ImportOptions const& options) {
    ORRERY_VALIDATE(options.ranks <= most_imported_ranks, "{} ranks (at most {}) use fewer", options.ranks,
                    most_imported_ranks);
    auto const& importer = importer_of(path);
    Findings findings(options.strictness);
    findings.report.format = importer.title;
    findings.report.files.push_back(path.string());
    auto schedule = importer.read(path, options, findings);
    findings.raise_if_any();
    warn_of_emptiness(*schedule, findings);
    return {std::move(schedule), std::move(findings.report)};
}

}  // namespace orrery
