// SPDX-License-Identifier: Apache-2.0
#include "apps/schedules/number_list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace orrery {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    auto const* const end = text.data() + text.size();
    auto const [at, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || at != end) return std::nullopt;
    return value;
}

}  // namespace

std::string append_numbers(std::string_view text, std::uint64_t limit, std::vector<std::uint32_t>& out) {
    for (;;) {
        auto const comma = text.find(',');
        auto const part = trimmed(text.substr(0, comma));
        auto const dash = part.find('-');
        auto const first = number(trimmed(part.substr(0, dash)));
        auto const last = dash == std::string_view::npos ? first : number(trimmed(part.substr(dash + 1)));
        if (!first || !last) return "no list of numbers";
        if (*last < *first) return "runs backwards";
        if (*last >= limit) return fmt::format("{} is not below {}", *last, limit);
        for (auto n = *first; n <= *last; ++n) out.push_back(static_cast<std::uint32_t>(n));
        if (comma == std::string_view::npos) return {};
        text.remove_prefix(comma + 1);
    }
}

}  // namespace orrery
