// SPDX-License-Identifier: Apache-2.0
// Finds the field a --set path names and hands the value to the same reader as the file.
#include "io/scenario/override.hpp"

#include "io/scenario/reader.hpp"
#include "io/scenario/schema.hpp"

#include <fmt/format.h>

#include <optional>

namespace orrery::loader {

namespace {

struct Target {
    Message* message = nullptr;  // holds the field
    Field const* field = nullptr;
    int index = -1;  // of the list item meant as a whole
};

// Walks the path and creates the groups on the way; reports and returns nothing if it leads nowhere.
std::optional<Target> find_target(std::string const& path, Place const& place, Draft& draft) {
    std::vector<Step> const steps = split_path(path);
    Message* message = &draft.scenario;
    std::string walked;
    auto const fail = [&](std::string const& what) {
        draft.problems.add(place, what);
        return std::nullopt;
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step const& step = steps[i];
        auto const& type = *message->GetDescriptor();
        Field const* field = type.FindFieldByName(step.name);
        std::string here = child_path(walked, step.name);
        bool const last = i + 1 == steps.size();
        if (field == nullptr)
            return fail(fmt::format("{} is unknown ({} has no such key) {}", shown(here),
                                    walked.empty() ? "a scenario" : walked, suggest_name(type, walked, step.name)));
        if (step.index == -2 || (step.index >= 0 && !field->is_repeated()))
            return fail(fmt::format("{} is not a path ({}) write {}", shown(path),
                                    field->is_repeated() ? "an index is a number in brackets" : here + " is not a list",
                                    field->is_repeated() ? item_path(here, 0) : here));
        if (last && step.index < 0) return Target{message, field, -1};
        if (!is_message(*field))
            return fail(
                fmt::format("{} is not a path ({} is {}) write {}=value", shown(path), here, kind_text(*field), here));
        auto const& reflection = *message->GetReflection();
        if (!field->is_repeated()) {
            message = reflection.MutableMessage(message, field);
            walked = here;
            continue;
        }
        int const size = reflection.FieldSize(*message, field);
        if (step.index < 0)
            return fail(fmt::format("{} is not a path ({} is a list) write {}.{}", shown(path), here,
                                    item_path(here, 0), steps[i + 1].name));
        if (step.index > size)
            return fail(fmt::format("{} does not exist ({} has {} items) use {} to append", item_path(here, step.index),
                                    here, size, item_path(here, size)));
        if (last) return Target{message, field, step.index};
        // Before anything is appended the key below must exist, or a slip would leave an empty item behind.
        Field const* next = field->message_type()->FindFieldByName(steps[i + 1].name);
        walked = item_path(here, step.index);
        if (next == nullptr)
            return fail(fmt::format("{} is unknown ({} has no such key) {}",
                                    shown(child_path(walked, steps[i + 1].name)), walked,
                                    suggest_name(*field->message_type(), walked, steps[i + 1].name)));
        message = step.index == size ? reflection.AddMessage(message, field)
                                     : reflection.MutableRepeatedMessage(message, field, step.index);
        draft.groups.try_emplace(walked, place);
    }
    return std::nullopt;
}

}  // namespace

void apply_override(std::string const& argument, Draft& draft) {
    Place const place{"--set " + shown(argument), {}};
    auto const equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) {
        draft.problems.add(place, "not path=value (there is no path or no =) write it like --set workload.ep=64");
        return;
    }
    std::string const path = argument.substr(0, equals);
    std::string const text = argument.substr(equals + 1);
    auto const target = find_target(path, place, draft);
    if (!target) return;
    Document document;
    if (is_message(*target->field)) {
        auto parsed = parse_document(text, place.source, Positions::none, draft.problems);
        if (!parsed) return;
        document = std::move(*parsed);
    } else {
        document.nodes.push_back({NodeKind::scalar, {}, text, {}, {}});
    }
    Reader reader(document, place.source, Positions::none, draft);
    Node const& root = document[document.root];
    auto const& reflection = *target->message->GetReflection();
    if (target->index >= 0) {
        if (root.kind != NodeKind::map) {
            draft.problems.add(place,
                               fmt::format("{} is a group of keys (not one value) write {}.key=value", path, path));
            return;
        }
        bool const append = target->index == reflection.FieldSize(*target->message, target->field);
        Message& item = append ? *reflection.AddMessage(target->message, target->field)
                               : *reflection.MutableRepeatedMessage(target->message, target->field, target->index);
        draft.groups.try_emplace(path, place);
        reader.read_group(root, item, path);
        return;
    }
    if (target->field->is_repeated()) {
        reflection.ClearField(target->message, target->field);
        forget_below(draft, path);
    }
    reader.read_field(root, {}, *target->message, *target->field, path);
}

}  // namespace orrery::loader
