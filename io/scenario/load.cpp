// SPDX-License-Identifier: Apache-2.0
// The order of loading: text, tree, fields, --set, defaults, required keys, files, rules between fields.
#include "io/scenario/load.hpp"

#include "core/check.hpp"
#include "io/scenario/condition.hpp"
#include "io/scenario/files.hpp"
#include "io/scenario/lint.hpp"
#include "io/scenario/override.hpp"
#include "io/scenario/reader.hpp"
#include "io/scenario/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace orrery {

namespace {

using namespace loader;

// A scenario is written by hand; anything larger is a data file given by mistake. A graph may come from a program.
constexpr std::uintmax_t largest_file = 1U << 18U, largest_graph = 1U << 24U;

std::string read_text(std::filesystem::path const& file, std::uintmax_t largest) {
    std::string const name = shown(file.string(), longest_path);
    if (auto const fault = file_fault(file))
        throw InputError(fmt::format("{} ({}) {}", name, fault->reason, fault->fix));
    std::ifstream stream(file, std::ios::binary);
    std::string text;
    // Read one byte more than allowed: the size of a file that grows or lives in /proc cannot be asked.
    text.resize(largest + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    ORRERY_VALIDATE(!stream.bad(), "{} (cannot be read) check the file system", name);
    text.resize(static_cast<std::size_t>(stream.gcount()));
    ORRERY_VALIDATE(text.size() <= largest, "{} (larger than {}KiB) is this {}?", name, largest / 1024,
                    largest == largest_file ? "a scenario" : "a graph");
    return text;
}

enum class Outcome { read, unreadable };

Outcome read_file(Draft& draft, std::string const& text) {
    auto const document = parse_document(text, draft.file, Positions::shown, draft.problems);
    if (!document) return Outcome::unreadable;
    Node const& root = (*document)[document->root];
    if (root.kind == NodeKind::nothing) {
        draft.problems.add({draft.file, {}},
                           "the file is empty (a scenario needs fabric and workload) "
                           "start from one in scenarios/");
        return Outcome::unreadable;
    }
    if (root.kind != NodeKind::map) {
        draft.problems.add({draft.file, root.mark},
                           fmt::format("the file holds {} (must be keys with values) write it like name: my run",
                                       root.kind == NodeKind::list ? "a list" : "one text"));
        return Outcome::unreadable;
    }
    Reader(*document, draft.file, Positions::shown, draft).read_group(root, draft.scenario, "");
    return Outcome::read;
}

// A graph in a file of its own, whose keys are those of fabric.graph.
void read_graph(Draft& draft) {
    auto const given = draft.origin.find("fabric.graph.path");
    if (draft.scenario.fabric().kind() != "graph" || given == draft.origin.end()) return;
    std::error_code error;
    auto const base =
        given->second.source.starts_with("--set") ? std::filesystem::current_path(error) : draft.directory;
    auto const file = base / draft.scenario.fabric().graph().path();
    if (file_fault(file)) return;  // resolve_paths tells
    auto const name = shown(draft.scenario.fabric().graph().path(), longest_path);
    // What is in the file stands in the scenario from here on, as if it had been written there.
    draft.scenario.mutable_fabric()->mutable_graph()->clear_path();
    draft.origin.erase(given);
    auto const document = parse_document(read_text(file, largest_graph), name, Positions::shown, draft.problems);
    if (!document) return;
    auto const& root = (*document)[document->root];
    if (root.kind != NodeKind::map) {
        draft.problems.add({name, root.mark}, "the file holds no keys (a graph needs ranks and links) write ranks: 8");
        return;
    }
    Reader(*document, name, Positions::shown, draft)
        .read_group(root, *draft.scenario.mutable_fabric()->mutable_graph(), "fabric.graph");
}

}  // namespace

LoadedScenario load_scenario(std::filesystem::path const& file, std::vector<std::string> const& sets) {
    std::error_code error;
    return load_scenario_text(read_text(file, largest_file), shown(file.string(), longest_path),
                              std::filesystem::absolute(file, error).lexically_normal().parent_path(), sets);
}

LoadedScenario load_scenario_text(std::string const& text, std::string const& source,
                                  std::filesystem::path const& directory, std::vector<std::string> const& sets) {
    Draft draft;
    draft.file = source;
    draft.directory = directory;
    Outcome const outcome = read_file(draft, text);
    for (std::string const& argument : sets) apply_override(argument, draft);
    // With no file to stand on, missing keys and rules between fields would only repeat that.
    if (outcome == Outcome::unreadable) draft.problems.raise_if_any();
    read_graph(draft);
    apply_defaults(draft.scenario);
    check_required(draft);
    resolve_paths(draft);
    lint(draft);
    draft.problems.raise_if_any();

    LoadedScenario loaded;
    loaded.ignored = find_ignored(draft);
    for (std::string& sentence : find_cancelled(draft)) loaded.ignored.push_back(std::move(sentence));
    for (auto const& [path, place] : draft.origin) loaded.origin[path] = place.text();
    loaded.scenario = std::move(draft.scenario);
    loaded.directory = draft.directory;
    return loaded;
}

std::string locate(LoadedScenario const& loaded, std::string const& path) {
    auto const found = loaded.origin.find(path);
    return found == loaded.origin.end() ? fmt::format("{} (default)", path)
                                        : fmt::format("{}: {}", found->second, path);
}

std::vector<std::string> plane_fields_set(LoadedScenario const& loaded, std::string const& plane) {
    std::vector<std::string> below, result;
    visit_fields(loaded.scenario, "", [&](std::string const& path, Message const&, Field const& field) {
        if (facts_of(field).plane == plane) below.push_back(path);
        if (is_message(field) || !loaded.origin.contains(path)) return;
        bool const on_plane = std::any_of(below.begin(), below.end(), [&](std::string const& group) {
            return path == group || is_below(path, group);
        });
        if (on_plane && why_idle(loaded.scenario, path).empty()) result.push_back(path);
    });
    return result;
}

}  // namespace orrery
