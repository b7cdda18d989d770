// SPDX-License-Identifier: Apache-2.0
// docs/scenario.md from the schema: one table per group of keys.
#include "io/scenario/condition.hpp"
#include "io/scenario/load.hpp"
#include "io/scenario/problems.hpp"
#include "io/scenario/value.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace orrery {

namespace {

using namespace loader;

std::string cell(std::string const& text) {
    std::string result;
    for (char const c : text) {
        if (c == '|') result += '\\';
        result += c;
    }
    return result;
}

std::string code(std::string const& text) {
    return text.empty() ? "" : "`" + cell(text) + "`";
}

std::string default_cell(Field const& field, FieldFacts const& facts) {
    if (facts.required) return "required";
    if (!facts.fallback.empty()) return code(facts.fallback);
    if (field.is_repeated()) return "empty";
    if (is_message(field)) return "";
    return facts.applies_when.empty() ? "not set" : "required then";
}

std::string range_cell(Field const& field, FieldFacts const& facts) {
    std::string choices;
    for (std::string const& choice : facts.choices) choices += (choices.empty() ? "" : ", ") + code(choice);
    return choices.empty() ? cell(range_text(field)) : choices;
}

std::string condition_cell(FieldFacts const& facts) {
    std::string text;
    for (Clause const& clause : parse_condition(facts.applies_when)) {
        std::string values;
        for (std::string const& value : clause.values) values += (values.empty() ? "" : " or ") + code(value);
        text += fmt::format("{}{} is {}", text.empty() ? "" : " and ", code(clause.path), values);
    }
    if (!facts.plane.empty())
        text += fmt::format("{}the {} plane carries traffic", text.empty() ? "" : " and ", facts.plane);
    return text;
}

// The groups of keys in reading order, with every path at which a group stands.
struct Section {
    Type const* type;
    std::vector<std::string> paths;
};

std::vector<Section> sections() {
    std::vector<Section> result{{scenario::Scenario::descriptor(), {}}};
    visit_schema(*scenario::Scenario::descriptor(), "", [&](std::string const& path, Field const& field) {
        if (!is_message(field)) return;
        std::string const shown_path = field.is_repeated() ? path + "[]" : path;
        for (Section& section : result) {
            if (section.type != field.message_type()) continue;
            section.paths.push_back(shown_path);
            return;
        }
        result.push_back({field.message_type(), {shown_path}});
    });
    return result;
}

}  // namespace

std::string reference_markdown() {
    std::string text =
        "# Scenario reference\n\n"
        "Generated from `proto/scenario.proto`; do not edit.\n\n"
        "A scenario is one YAML file. Every key has a default unless it is marked required. `--set path=value` "
        "overrides a\n"
        "key, for example `--set workload.ep=64` or `--set 'fabric.degrade[0].links=*L2*'`; an index equal to the "
        "number of\n"
        "items appends one. Files are relative to the scenario, or to the current directory if given with `--set`.\n"
        "Anchors, aliases and merge keys (`<<: *name`) of YAML work.\n\n"
        "| quantity | written | stored as |\n|---|---|---|\n"
        "| time | `200ns`, `1.9us`, `3ms`, `1s`, `700ps` | integer picoseconds |\n"
        "| rate | `400Gb/s` (bits), `28GB/s` (bytes), `25GiB/s` (binary) | integer bits per second |\n"
        "| size | `7.5kB` (decimal), `64KiB` (binary), `512B` | integer bytes |\n"
        "| operation rate | `376TFLOPS`, `752TOPS` | operations per second |\n"
        "| fraction | `0.85`, `85%` | number |\n";
    for (Section const& section : sections()) {
        std::string heading;
        for (std::string const& path : section.paths) heading += (heading.empty() ? "" : ", ") + code(path);
        text += fmt::format("\n## {}\n\n", heading.empty() ? "Top level" : heading);
        text += "| key | value | default | range or choices | meaning | has an effect when | source of the default |\n";
        text += "|---|---|---|---|---|---|---|\n";
        for (int i = 0; i < section.type->field_count(); ++i) {
            Field const& field = *section.type->field(i);
            FieldFacts const facts = facts_of(field);
            text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", code(field.name()), kind_text(field),
                                default_cell(field, facts), range_cell(field, facts), cell(facts.help),
                                condition_cell(facts), cell(facts.source));
        }
    }
    return text;
}

}  // namespace orrery
