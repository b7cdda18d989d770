// SPDX-License-Identifier: Apache-2.0
// orrery import: what a file of another tool is, what of it becomes a schedule, and what cannot be honoured.
#include "workloads/imports/import.hpp"

#include "apps/commands/command.hpp"
#include "io/scenario/quantity.hpp"
#include "io/scenario/resolve.hpp"
#include "proto/scenario.pb.h"

#include <fmt/format.h>

namespace orrery {
namespace {

std::int64_t quantity_of(char const* option, quantity::Dimension dimension, std::string const& text) {
    auto const parsed = quantity::parse_integer(dimension, text);
    ORRERY_VALIDATE(parsed, "{} = {} ({}) {}", option, text, parsed.refusal.reason, parsed.refusal.fix);
    return *parsed.value;
}

void print_counts(char const* title, std::vector<ImportReport::Count> const& counts) {
    if (counts.empty()) return;
    fmt::print("{}\n", title);
    for (auto const& entry : counts)
        fmt::print("  {:>12}  {}{}\n", entry.count, entry.what,
                   entry.first.empty() ? "" : fmt::format(" (first: {})", entry.first));
}

void print_lines(char const* title, std::vector<std::string> const& lines) {
    if (lines.empty()) return;
    fmt::print("{}\n", title);
    for (auto const& line : lines) fmt::print("  {}\n", line);
}

}  // namespace

ExitCode import_command(World const& world, ImportArguments const& arguments) {
    if (!world.root()) return ExitCode::complete;
    auto options = arguments.options;
    if (arguments.lenient) options.strictness = Strictness::lenient;
    options.host_rate =
        Rate::from_bits_per_s(quantity_of("--host-rate", quantity::Dimension::rate, arguments.host_rate));
    options.duration = Time::from_ps(quantity_of("--duration", quantity::Dimension::time, arguments.duration));
    scenario::Scenario defaults;
    loader::apply_defaults(defaults);
    options.device = make_device(defaults.device());
    auto const import = import_file(arguments.file, options);
    auto const& report = import.report;

    fmt::print("{}: {}\n{} ranks, {} groups, {} collectives\n", report.files.front(), report.format,
               import.schedule->ranks(), import.schedule->group_count(), import.schedule->collective_count());
    if (report.files.size() > 1)
        fmt::print("{} files, {} to {}\n", report.files.size(), report.files.front(), report.files.back());
    print_counts("contains", report.contents);
    print_counts("cannot be honoured", report.ignored);
    print_lines("taken as", report.assumptions);
    print_lines("wrong, and taken as said (--lenient)", report.mended);
    if (auto const more = report.mended_count - static_cast<std::int64_t>(report.mended.size()); more > 0)
        fmt::print("  ... and {} more\n", more);
    for (auto const& text : report.warnings) fmt::print("warning: {}\n", text);
    fmt::print("run it with: workload: {{kind: schedule, schedule: {{file: {}}}}}\n", arguments.file.string());
    return ExitCode::complete;
}

}  // namespace orrery
