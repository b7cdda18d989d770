// SPDX-License-Identifier: Apache-2.0
// A loaded scenario as text: for people with units and origins, for the manifest in stored units.
#include "io/scenario/condition.hpp"
#include "io/scenario/load.hpp"
#include "io/scenario/value.hpp"

#include <fmt/format.h>

#include <cctype>

namespace orrery {

namespace {

using namespace loader;

// Plain where YAML reads it back as the same text, else double-quoted.
std::string yaml_scalar(std::string const& text) {
    auto const safe = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' ||
               c == '+' || c == ' ' || c == '(' || c == ')' || c == '%';
    };
    bool plain = !text.empty() &&
                 (std::isalnum(static_cast<unsigned char>(text.front())) != 0 || text.front() == '/') &&
                 text.back() != ' ';
    for (char const c : text) plain = plain && safe(c);
    if (text == "null" || text == "Null" || text == "NULL") plain = false;
    if (plain) return text;
    std::string quoted = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

class ResolvedPrinter {
  public:
    explicit ResolvedPrinter(LoadedScenario const& loaded) : loaded_(loaded) {}

    void print(Message const& message, std::string const& prefix, int depth) {
        auto const& type = *message.GetDescriptor();
        for (int i = 0; i < type.field_count(); ++i) print_field(message, *type.field(i), prefix, depth);
    }
    std::string take() { return std::move(text_); }

  private:
    void print_field(Message const& message, Field const& field, std::string const& prefix, int depth) {
        auto const& reflection = *message.GetReflection();
        std::string const path = child_path(prefix, field.name());
        if (field.is_repeated()) {
            int const size = reflection.FieldSize(message, &field);
            line(depth, field.name() + (size == 0 ? ": []" : ":"), facts_of(field).help);
            for (int k = 0; k < size; ++k) {
                dash_ = true;
                print(reflection.GetRepeatedMessage(message, &field, k), item_path(path, k), depth + 2);
            }
        } else if (is_message(field)) {
            if (!reflection.HasField(message, &field)) {
                comment_line(depth, fmt::format("{}: no effect ({})", field.name(), why_idle(loaded_.scenario, path)));
                return;
            }
            line(depth, field.name() + ":", facts_of(field).help);
            print(reflection.GetMessage(message, &field), path, depth + 1);
        } else {
            print_scalar(message, field, path, depth);
        }
    }

    void print_scalar(Message const& message, Field const& field, std::string const& path, int depth) {
        FieldFacts const facts = facts_of(field);
        std::string const idle = why_idle(loaded_.scenario, path);
        std::string const effect = idle.empty() ? "" : fmt::format("no effect ({}). ", idle);
        if (!is_set(message, field)) {
            comment_line(depth, fmt::format("{}: not set. {}{}", field.name(), effect, facts.help));
            return;
        }
        auto const origin = loaded_.origin.find(path);
        std::string note = (origin == loaded_.origin.end() ? "default" : origin->second) + ". " + effect + facts.help;
        if (!facts.source.empty() && origin == loaded_.origin.end()) note += " [" + facts.source + "]";
        line(depth, fmt::format("{}: {}", field.name(), yaml_scalar(user_text(message, field))), note);
    }

    void line(int depth, std::string const& content, std::string const& note) {
        std::string indent(static_cast<std::size_t>(2 * depth), ' ');
        if (dash_) indent.replace(indent.size() - 2, 2, "- ");
        dash_ = false;
        text_ += fmt::format("{:<44}  # {}\n", indent + content, note);
    }
    void comment_line(int depth, std::string const& content) {
        text_ += fmt::format("{}# {}\n", std::string(static_cast<std::size_t>(2 * depth), ' '), content);
    }

    LoadedScenario const& loaded_;
    std::string text_;
    bool dash_ = false;
};

}  // namespace

std::string resolved_text(LoadedScenario const& loaded) {
    ResolvedPrinter printer(loaded);
    printer.print(loaded.scenario, "", 0);
    return printer.take();
}

std::string canonical_text(scenario::Scenario const& scenario) {
    std::string text;
    visit_fields(scenario, "", [&](std::string const& path, Message const& message, Field const& field) {
        if (!is_message(field) && is_set(message, field))
            text += fmt::format("{}={}\n", path, stored_text(message, field));
    });
    return text;
}

}  // namespace orrery
