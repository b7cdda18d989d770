// SPDX-License-Identifier: Apache-2.0
// UTF-8 validation (RFC 3629, section 4) and the search for tabs.
#include "io/scenario/text_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::loader {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

// Length of the sequence at i; 0 if it is not UTF-8.
std::size_t sequence_length(std::string_view text, std::size_t i) {
    unsigned const first = byte_at(text, i);
    auto const tail = [&](std::size_t n) { return (byte_at(text, i + n) & 0xc0U) == 0x80U; };
    if (first < 0x80U) return 1;
    unsigned const second = byte_at(text, i + 1);
    if (first >= 0xc2U && first <= 0xdfU) return tail(1) ? 2 : 0;
    if ((first & 0xf0U) == 0xe0U) {
        bool const overlong = first == 0xe0U && second < 0xa0U;
        bool const surrogate = first == 0xedU && second > 0x9fU;
        return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0U && first <= 0xf4U) {
        bool const overlong = first == 0xf0U && second < 0x90U;
        bool const beyond = first == 0xf4U && second > 0x8fU;
        return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

Mark mark_of(std::string_view text, std::size_t at) {
    auto const before = text.substr(0, at);
    auto const line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(at - line_start) + 1};
}

}  // namespace

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const length = sequence_length(text, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

std::vector<TextFault> text_faults(std::string_view text) {
    std::vector<TextFault> faults;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const length = sequence_length(text, i);
        unsigned const byte = byte_at(text, i);
        bool const control = (byte < 0x20U && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7fU;
        if (length == 0 || control)
            return {{mark_of(text, i),
                     fmt::format("byte 0x{:02x} is not text (a scenario is UTF-8) is this a scenario?", byte)}};
        i += length;
    }
    int line = 1;
    for (std::size_t start = 0; start < text.size() && faults.size() < 20; ++line) {
        std::size_t const end = std::min(text.find('\n', start), text.size());
        std::string_view const content = text.substr(start, end - start);
        std::size_t const tab = content.find_first_not_of(' ');
        std::size_t const first = content.find_first_not_of(" \t\r");
        bool const blank = first == std::string_view::npos || content[first] == '#';
        if (!blank && content[tab] == '\t')
            faults.push_back({{line, static_cast<int>(tab) + 1},
                              "the line is indented with a tab (YAML allows only spaces) use two spaces per level"});
        start = end + 1;
    }
    return faults;
}

}  // namespace orrery::loader
