// SPDX-License-Identifier: Apache-2.0
#include "netmodels/topology/files/topology_text.hpp"

#include "core/check.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

struct UnitOf {
    std::string_view name;
    double factor;
};

constexpr std::array rate_units{UnitOf{"", 1},       UnitOf{"bps", 1},    UnitOf{"Kbps", 1e3},  UnitOf{"kbps", 1e3},
                                UnitOf{"Mbps", 1e6}, UnitOf{"Gbps", 1e9}, UnitOf{"Tbps", 1e12}, UnitOf{"b/s", 1},
                                UnitOf{"kb/s", 1e3}, UnitOf{"Mb/s", 1e6}, UnitOf{"Gb/s", 1e9},  UnitOf{"Tb/s", 1e12},
                                UnitOf{"Bps", 8},    UnitOf{"MBps", 8e6}, UnitOf{"GBps", 8e9},  UnitOf{"GB/s", 8e9}};
constexpr std::array time_units{UnitOf{"ps", 1}, UnitOf{"ns", 1e3}, UnitOf{"us", 1e6}, UnitOf{"ms", 1e9},
                                UnitOf{"s", 1e12}};

}  // namespace

TopologyText::TopologyText(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
    std::string_view rest = text_;
    for (std::uint32_t number = 1; !rest.empty(); ++number) {
        auto const end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        line = line.substr(0, line.find('#'));
        Line found{.number = number, .words = {}};
        while (!line.empty()) {
            auto const begin = line.find_first_not_of(" \t\r\v\f");
            if (begin == std::string_view::npos) break;
            line.remove_prefix(begin);
            auto const length = std::min(line.find_first_of(" \t\r\v\f"), line.size());
            found.words.push_back(line.substr(0, length));
            line.remove_prefix(length);
        }
        if (!found.words.empty()) lines_.push_back(std::move(found));
    }
    ORRERY_VALIDATE(!lines_.empty(), "{}: the file is empty (a topology is expected); name another", name_);
}

std::string TopologyText::place(Line const& line) const {
    return fmt::format("{}:{}", name_, line.number);
}

void TopologyText::refuse(Line const& line, std::string const& what) const {
    throw InputError(fmt::format("{}: {}", place(line), what));
}

std::uint32_t TopologyText::count(Line const& line, std::string_view word, std::string_view what) const {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end != word.data() + word.size() || error == std::errc::invalid_argument)
        refuse(line, fmt::format("{} is '{}' (a whole number is expected); correct the line", what, word));
    if (error == std::errc::result_out_of_range || value > std::numeric_limits<std::int32_t>::max())
        refuse(line, fmt::format("{} is {} (numbers go up to 2^31 - 1); correct the line", what, word));
    return static_cast<std::uint32_t>(value);
}

double TopologyText::number(Line const& line, std::string_view word, std::string_view what) const {
    double value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value) || value <= 0)
        refuse(line, fmt::format("{} is '{}' (a number above 0 is expected); correct the line", what, word));
    return value;
}

namespace {

// The value in the smallest unit; negative when the text is none, or too large to be told.
template <class Units>
double with_unit(std::string_view word, Units const& units) {
    double value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{}) return -1;
    auto const unit = word.substr(static_cast<std::size_t>(end - word.data()));
    for (auto const& known : units)
        if (known.name == unit && value >= 0 && value * known.factor < 9e18) return value * known.factor;
    return -1;
}

}  // namespace

Rate TopologyText::rate(Line const& line, std::string_view word) const {
    auto const value = with_unit(word, rate_units);
    if (!(value >= 0.5)) refuse(line, fmt::format("the rate is '{}' (unknown); write it like 100Gbps", word));
    return Rate::from_bits_per_s(std::llround(value));
}

Time TopologyText::time(Line const& line, std::string_view word) const {
    auto const value = with_unit(word, time_units);
    if (!(value >= 0)) refuse(line, fmt::format("the delay is '{}' (unknown); write it like 1us", word));
    return Time::from_ps(std::llround(value));
}

}  // namespace orrery
