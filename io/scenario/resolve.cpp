// SPDX-License-Identifier: Apache-2.0
// Completion of a draft. Every rule comes from the options of the schema; rules of one field live in lint.cpp.
#include "io/scenario/resolve.hpp"

#include "core/check.hpp"
#include "io/scenario/condition.hpp"
#include "io/scenario/files.hpp"
#include "io/scenario/schema.hpp"
#include "io/scenario/value.hpp"

#include <fmt/format.h>

namespace orrery::loader {

namespace {

enum class Progress { none, some };

// One pass over the present groups. Conditions are judged on what is set so far, hence passes until nothing changes.
Progress fill(scenario::Scenario const& root, Message& message, std::string const& prefix) {
    Progress progress = Progress::none;
    auto const& type = *message.GetDescriptor();
    auto const& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
        Field const& field = *type.field(i);
        std::string const path = child_path(prefix, field.name());
        auto const descend = [&](Message& child, std::string const& at) {
            if (fill(root, child, at) == Progress::some) progress = Progress::some;
        };
        if (field.is_repeated()) {
            for (int k = 0; k < reflection.FieldSize(message, &field); ++k)
                descend(*reflection.MutableRepeatedMessage(&message, &field, k), item_path(path, k));
        } else if (is_message(field)) {
            if (!reflection.HasField(message, &field) && !why_idle(root, path).empty()) continue;
            if (!reflection.HasField(message, &field)) progress = Progress::some;
            descend(*reflection.MutableMessage(&message, &field), path);
        } else if (std::string const fallback = facts_of(field).fallback;
                   !fallback.empty() && !is_set(message, field)) {
            auto const refused = assign(message, field, fallback);
            ORRERY_ENSURE(!refused, "the default {} of {} is refused: {}", fallback, path, refused->reason);
            progress = Progress::some;
        }
    }
    return progress;
}

// A condition on a key that was refused cannot be judged.
bool condition_failed(Draft const& draft, std::string const& path) {
    Type const* type = scenario::Scenario::descriptor();
    for (Step const& step : split_path(path)) {
        Field const* field = type->FindFieldByName(step.name);
        for (Clause const& clause : parse_condition(facts_of(*field).applies_when))
            if (draft.failed.contains(clause.path)) return true;
        if (!is_message(*field)) break;
        type = field->message_type();
    }
    return false;
}

bool failed_here_or_above(Draft const& draft, std::string path) {
    for (;;) {
        if (draft.failed.contains(path)) return true;
        auto const cut = path.find_last_of(".[");
        if (cut == std::string::npos) return false;
        path.resize(cut);
    }
}

std::string how_to_give(Field const& field, std::string const& path) {
    FieldFacts const facts = facts_of(field);
    if (!facts.choices.empty()) return fmt::format("choose one of {}", join(facts.choices, ", "));
    return fmt::format("add {}: {}", path, facts.help);
}

}  // namespace

void apply_defaults(scenario::Scenario& scenario) {
    while (fill(scenario, scenario, "") == Progress::some) {
    }
}

void check_required(Draft& draft) {
    visit_fields(draft.scenario, "", [&](std::string const& path, Message const& message, Field const& field) {
        if (is_message(field)) return;
        FieldFacts const facts = facts_of(field);
        bool const conditional =
            field.cpp_type() == Field::CPPTYPE_STRING && facts.fallback.empty() && !facts.applies_when.empty();
        if ((!facts.required && !conditional) || is_set(message, field)) return;
        if (failed_here_or_above(draft, path) || condition_failed(draft, path)) return;
        if (!why_idle(draft.scenario, path).empty()) return;
        std::string reason = "required";
        if (conditional) {
            Clause const clause = parse_condition(facts.applies_when).front();
            reason = fmt::format("required when {} is {}", clause.path, value_at(draft.scenario, clause.path));
        }
        auto const dot = path.rfind('.');
        Place const place = draft.place_of_group(dot == std::string::npos ? "" : path.substr(0, dot));
        draft.problems.add(place, fmt::format("{} is missing ({}) {}", path, reason, how_to_give(field, path)));
    });
}

void resolve_paths(Draft& draft) {
    struct Found {
        std::string path, value;
        Message* message;
        Field const* field;
    };
    std::vector<Found> found;
    visit_fields(draft.scenario, "", [&](std::string const& path, Message const& message, Field const& field) {
        if (facts_of(field).unit != scenario::PATH || !is_set(message, field)) return;
        // The visitor sees constant messages; this one belongs to the draft we were given to change.
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
        found.push_back({path, stored_text(message, field), const_cast<Message*>(&message), &field});
    });
    for (Found const& f : found) {
        auto const origin = draft.origin.find(f.path);
        if (origin == draft.origin.end()) continue;
        bool const from_command = origin->second.source.starts_with("--set");
        std::error_code error;
        std::filesystem::path const base = from_command ? std::filesystem::current_path(error) : draft.directory;
        std::filesystem::path const absolute = (base / f.value).lexically_normal();
        f.message->GetReflection()->SetString(f.message, f.field, absolute.string());
        if (condition_failed(draft, f.path) || !why_idle(draft.scenario, f.path).empty()) continue;
        if (auto const fault = file_fault(absolute)) {
            draft.failed.insert(f.path);
            draft.problems.refuse(origin->second, f.path, f.value, *fault);
        }
    }
}

std::vector<std::string> find_ignored(Draft const& draft) {
    std::vector<std::string> ignored;
    visit_fields(draft.scenario, "", [&](std::string const& path, Message const& message, Field const& field) {
        if (is_message(field) || !draft.origin.contains(path)) return;
        if (std::string const reason = why_idle(draft.scenario, path); !reason.empty())
            ignored.push_back(fmt::format("{} = {} has no effect ({})", path, user_text(message, field), reason));
    });
    return ignored;
}

}  // namespace orrery::loader
