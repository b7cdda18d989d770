// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/config_fields.hpp"

#include "core/check.hpp"

#include <cmath>

namespace orrery {
namespace {

std::string shown(nlohmann::json const& value) {
    std::string text = value.dump();
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

std::string joined(ConfigFields::Keys keys) {
    std::string text;
    for (char const* key : keys) text += (text.empty() ? "" : ", ") + std::string(key);
    return text;
}

}  // namespace

void ConfigFields::refuse(std::string_view problem, std::string_view reason, std::string_view suggestion) const {
    throw InputError(fmt::format("{}: {} ({}) {}", file_, problem, reason, suggestion));
}

ConfigFields::Found ConfigFields::first(Keys keys) const {
    for (char const* key : keys)
        if (auto const at = object_.find(key); at != object_.end() && !at->is_null()) return {key, &*at};
    return {nullptr, nullptr};
}

nlohmann::json const* ConfigFields::find(Keys keys) const {
    return first(keys).value;
}

std::uint32_t ConfigFields::as_number(Found found, std::uint32_t at_least, std::uint32_t at_most) const {
    bool const number = found.value->is_number();
    double const value = number ? found.value->get<double>() : 0;
    if (!number || value != std::floor(value) || value < at_least || value > at_most)
        refuse(fmt::format("{} is {}", found.key, shown(*found.value)),
               fmt::format("must be a whole number from {} to {}", at_least, at_most),
               "take the value from the model's published config.json");
    return static_cast<std::uint32_t>(value);
}

std::optional<std::uint32_t> ConfigFields::number(Keys keys, std::uint32_t at_least, std::uint32_t at_most) const {
    Found const found = first(keys);
    if (found.value == nullptr) return std::nullopt;
    return as_number(found, at_least, at_most);
}

std::uint32_t ConfigFields::required(Keys keys, std::uint32_t at_least, std::uint32_t at_most) const {
    Found const found = first(keys);
    if (found.value == nullptr)
        refuse(fmt::format("{} is missing", *keys.begin()),
               keys.size() == 1 ? "the key is not in the file" : fmt::format("none of {} is in the file", joined(keys)),
               "add it from the model's published config.json");
    return as_number(found, at_least, at_most);
}

bool ConfigFields::flag(char const* key, bool otherwise) const {
    Found const found = first({key});
    if (found.value == nullptr) return otherwise;
    if (!found.value->is_boolean())
        refuse(fmt::format("{} is {}", key, shown(*found.value)), "must be true or false", "write it without quotes");
    return found.value->get<bool>();
}

std::string ConfigFields::text(char const* key) const {
    Found const found = first({key});
    if (found.value == nullptr) return {};
    if (!found.value->is_string())
        refuse(fmt::format("{} is {}", key, shown(*found.value)), "must be a string", "write it in quotes");
    return found.value->get<std::string>();
}

std::optional<std::vector<std::int64_t>> ConfigFields::integers(char const* key) const {
    Found const found = first({key});
    if (found.value == nullptr) return std::nullopt;
    std::vector<std::int64_t> values;
    for (auto const& entry : *found.value) {
        if (!found.value->is_array() || !entry.is_number_integer())
            refuse(fmt::format("{} has an entry {}", key, shown(entry)), "must be a list of whole numbers",
                   "take the list from the model's published config.json");
        values.push_back(entry.get<std::int64_t>());
    }
    return values;
}

std::optional<std::vector<std::string>> ConfigFields::strings(char const* key) const {
    Found const found = first({key});
    if (found.value == nullptr) return std::nullopt;
    std::vector<std::string> values;
    for (auto const& entry : *found.value) {
        if (!found.value->is_array() || !entry.is_string())
            refuse(fmt::format("{} has an entry {}", key, shown(entry)), "must be a list of strings",
                   "take the list from the model's published config.json");
        values.push_back(entry.get<std::string>());
    }
    return values;
}

void ConfigFields::agree(Keys keys) const {
    Found known{nullptr, nullptr};
    for (char const* key : keys) {
        Found const other = first({key});
        if (other.value == nullptr) continue;
        if (known.value != nullptr && *known.value != *other.value)
            refuse(fmt::format("{} is {} but {} is {}", known.key, shown(*known.value), other.key, shown(*other.value)),
                   "two names of one count", "remove the wrong one");
        known = other;
    }
}

}  // namespace orrery
