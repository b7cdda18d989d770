// SPDX-License-Identifier: Apache-2.0
// Typed access to the keys of a config.json, with errors that name file, key, value and fix.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// The same fact has different names in different families, so every look-up takes all of them.
class ConfigFields {
  public:
    using Keys = std::initializer_list<char const*>;

    ConfigFields(nlohmann::json const& object, std::string file) : object_(object), file_(std::move(file)) {}

    std::string const& file() const { return file_; }
    // Null counts as absent.
    nlohmann::json const* find(Keys keys) const;
    bool has(Keys keys) const { return find(keys) != nullptr; }

    // The first key present. Out-of-range and non-integer values throw.
    std::optional<std::uint32_t> number(Keys keys, std::uint32_t at_least, std::uint32_t at_most) const;
    std::uint32_t required(Keys keys, std::uint32_t at_least, std::uint32_t at_most) const;
    bool flag(char const* key, bool otherwise) const;
    std::string text(char const* key) const;  // empty when absent
    std::optional<std::vector<std::int64_t>> integers(char const* key) const;
    std::optional<std::vector<std::string>> strings(char const* key) const;

    // All names of one count that are present must agree.
    void agree(Keys keys) const;
    [[noreturn]] void refuse(std::string_view problem, std::string_view reason, std::string_view suggestion) const;

  private:
    struct Found {
        char const* key;
        nlohmann::json const* value;
    };
    Found first(Keys keys) const;
    std::uint32_t as_number(Found found, std::uint32_t at_least, std::uint32_t at_most) const;

    nlohmann::json const& object_;
    std::string file_;
};

}  // namespace orrery
