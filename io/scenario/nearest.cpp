// SPDX-License-Identifier: Apache-2.0
// Edit distance by the usual three-row table.
#include "io/scenario/nearest.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace orrery {

namespace {

constexpr std::size_t longest = 64;

int substitution(char a, char b) {
    if (a == b) return 0;
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)) ? 1 : 2;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
    a = a.substr(0, longest);
    b = b.substr(0, longest);
    using Row = std::array<int, longest + 1>;
    Row before{}, above{}, row{};
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(2 * j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = above;
        above = row;
        row[0] = static_cast<int>(2 * i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + substitution(a[i - 1], b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 2);
        }
    }
    return row[b.size()];
}

std::string nearest_name(std::string_view name, std::vector<std::string> const& candidates) {
    std::string best;
    // One edit in a short name, one in three letters of a long one.
    int best_distance = std::max(3, static_cast<int>(2 * (std::min(name.size(), longest) / 3)) + 1);
    for (std::string const& candidate : candidates) {
        int const distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace orrery
