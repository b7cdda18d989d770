// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/algorithm_name.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace orrery {
namespace {

constexpr std::uint32_t most_chunks = 65'536;

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
    AlgorithmName result;
    auto rest = written;
    if (auto const star = rest.find('*'); star != std::string_view::npos) {
        auto const number = rest.substr(star + 1);
        auto const read = std::from_chars(number.data(), number.data() + number.size(), result.chunks);
        ORRERY_VALIDATE(read.ec == std::errc{} && read.ptr == number.data() + number.size() && result.chunks > 0 &&
                            result.chunks <= most_chunks,
                        "the algorithm is '{}' (after * stands the number of chunks, 1 to {}); write ring*8", written,
                        most_chunks);
        rest = rest.substr(0, star);
    }
    auto const colon = rest.find(':');
    if (!rest.starts_with("level")) {
        result.name = rest.substr(0, colon);
        if (colon != std::string_view::npos) result.levels = split(rest.substr(colon + 1), ',');
        return result;
    }
    result.name = "hierarchical";
    for (auto const& level : split(rest, ';')) {
        auto const prefix = fmt::format("level{}:", result.levels.size());
        ORRERY_VALIDATE(level.starts_with(prefix),
                        "the algorithm is '{}' (levels are counted from level0 up); write {}NAME where it says '{}'",
                        written, prefix, level);
        result.levels.push_back(level.substr(prefix.size()));
    }
    return result;
}

}  // namespace orrery
