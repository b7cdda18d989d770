// SPDX-License-Identifier: Apache-2.0
// Importing a text that a test writes, and looking at what came of it.
#pragma once

#include "shared_data.hpp"
#include "workloads/imports/import.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace orrery::test {

inline ImportOptions lenient(ImportOptions options = {}) {
    options.strictness = Strictness::lenient;
    return options;
}
inline ImportOptions for_ranks(std::uint32_t ranks) {
    ImportOptions options;
    options.ranks = ranks;
    return options;
}

inline Import import_text(std::string const& name, std::string const& text, ImportOptions const& options = {}) {
    TempFile const file(name, text);
    return import_file(file.path(), options);
}

// What is complained about, with NAME instead of the whole path.
inline std::string import_complaint(std::string const& name, std::string const& text,
                                    ImportOptions const& options = {}) {
    TempFile const file(name, text);
    auto said = complaint<InputError>([&] { import_file(file.path(), options); });
    auto const directory = file.path().parent_path().string() + "/";
    for (auto at = said.find(directory); at != std::string::npos; at = said.find(directory))
        said.erase(at, directory.size());
    return said;
}

inline std::int64_t count_of(std::vector<ImportReport::Count> const& counts, std::string_view what) {
    for (auto const& entry : counts)
        if (entry.what.starts_with(what)) return entry.count;
    return 0;
}

inline bool mentions(std::vector<std::string> const& lines, std::string_view what) {
    return std::any_of(lines.begin(), lines.end(), [&](auto const& line) { return line.find(what) != line.npos; });
}

// "send 0->1 tag 2 8B" per message of a rank.
inline std::vector<std::string> tasks_of(Schedule const& schedule, std::uint32_t rank) {
    std::vector<std::string> list;
    auto const program = schedule.program(rank);
    for (std::uint32_t number = 0; number < program.tasks().size(); ++number) {
        auto const& task = program.tasks()[number];
        std::string text;
        if (task.kind == TaskKind::compute) text = fmt::format("compute {}ps", task.duration.ps());
        if (task.kind == TaskKind::send) text = fmt::format("send {}B to {}", task.bytes, task.peer);
        if (task.kind == TaskKind::receive) text = fmt::format("receive {}B from {}", task.bytes, task.peer);
        if (task.kind == TaskKind::collective) {
            auto const spec = schedule.collective(task.peer);
            text = fmt::format("{} {}B of {}", name_of(spec.op), spec.bytes, schedule.group(spec.group).size());
        }
        if (task.not_before > Time{}) text += fmt::format(" at {}ps", task.not_before.ps());
        for (auto const& on : program.dependencies(number))
            text += fmt::format(" {}{}", on.after == After::end ? "<" : "~", on.task);
        list.push_back(text);
    }
    return list;
}

}  // namespace orrery::test
