// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/algorithm_name.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cctype>

namespace orrery {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        auto const end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

bool same_algorithm_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        auto const plain = [](int c) { return c == '_' || c == ' ' ? '-' : std::tolower(c); };
        return plain(x) == plain(y);
    });
}

AlgorithmName split_algorithm_name(std::string_view written) {
    auto const colon = written.find(':');
    if (colon == std::string_view::npos) return {.name = std::string{written}, .levels = {}};
    if (!written.starts_with("level"))
        return {.name = std::string{written.substr(0, colon)}, .levels = split(written.substr(colon + 1), ',')};
    AlgorithmName result{.name = "hierarchical", .levels = {}};
    for (auto const& level : split(written, ';')) {
        auto const prefix = fmt::format("level{}:", result.levels.size());
        ORRERY_VALIDATE(level.starts_with(prefix),
                        "the algorithm is '{}' (levels are counted from level0 up); write {}NAME where it says '{}'",
                        written, prefix, level);
        result.levels.push_back(level.substr(prefix.size()));
    }
    return result;
}

}  // namespace orrery
