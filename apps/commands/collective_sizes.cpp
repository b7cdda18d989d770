// SPDX-License-Identifier: Apache-2.0
// Ranges of sizes, as nccl-tests' -b, -e, -f and -i in one word.
#include "apps/commands/collective.hpp"
#include "core/check.hpp"
#include "io/scenario/quantity.hpp"

#include <fmt/format.h>

#include <charconv>

namespace orrery {
namespace {

constexpr std::size_t most_sizes = 10'000;

std::vector<std::string> split(std::string const& text, char separator) {
    std::vector<std::string> parts(1);
    for (char const c : text)
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

std::int64_t size_of(std::string const& word, std::string const& text) {
    std::int64_t plain = 0;
    auto const read = std::from_chars(word.data(), word.data() + word.size(), plain);
    if (read.ec == std::errc{} && read.ptr == word.data() + word.size() && plain >= 0) return plain;
    auto const size = quantity::parse_integer(quantity::Dimension::size, word, "16MiB");
    ORRERY_VALIDATE(static_cast<bool>(size), "--sizes {}: '{}' ({}) {}", text, word, size.refusal.reason,
                    size.refusal.fix);
    return *size.value;
}

}  // namespace

std::vector<std::int64_t> parse_sizes(std::string const& text) {
    std::vector<std::int64_t> sizes;
    auto const range = split(text, ':');
    if (range.size() != 3) {
        ORRERY_VALIDATE(range.size() == 1, "--sizes {} (a range has three parts) write FIRST:LAST:xFACTOR, 8:1GiB:x2",
                        text);
        for (auto const& word : split(text, ',')) sizes.push_back(size_of(word, text));
        return sizes;
    }
    auto const first = size_of(range[0], text), last = size_of(range[1], text);
    auto const& step = range[2];
    bool const factor = !step.empty() && step[0] == 'x';
    ORRERY_VALIDATE(factor || (!step.empty() && step[0] == '+'),
                    "--sizes {}: '{}' (neither a factor nor a step) write x2 or +1MiB", text, step);
    auto const by = size_of(step.substr(1), text);
    ORRERY_VALIDATE(factor ? by >= 2 && first > 0 : by >= 1,
                    "--sizes {} (it does not grow) begin above 0 and take a factor of 2 or a step of 1 or more", text);
    for (auto size = first; size <= last; size = factor ? size * by : size + by) {
        sizes.push_back(size);
        ORRERY_VALIDATE(sizes.size() <= most_sizes, "--sizes {} (more than {} sizes) take a larger step", text,
                        most_sizes);
    }
    ORRERY_VALIDATE(!sizes.empty(), "--sizes {} (the first is larger than the last) swap them", text);
    return sizes;
}

}  // namespace orrery
