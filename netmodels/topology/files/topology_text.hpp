// SPDX-License-Identifier: Apache-2.0
// Topology files of other simulators as text: words by line, numbers with units, refusals that name the line.
#pragma once

#include "core/strictness.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class TopologyText {
  public:
    struct Line {
        std::uint32_t number = 0;  // in the file, from 1
        std::vector<std::string_view> words;
    };

    // What stands behind `#` on a line is a comment; lines without words are left out.
    TopologyText(std::string name, std::string text);
    TopologyText(TopologyText const&) = delete;  // lines look into the text
    TopologyText& operator=(TopologyText const&) = delete;

    std::string const& name() const { return name_; }
    std::string const& text() const { return text_; }
    std::vector<Line> const& lines() const { return lines_; }

    // "topology.txt:12"
    std::string place(Line const& line) const;
    // Throws InputError: "place: problem (reason) fix".
    [[noreturn]] void refuse(Line const& line, std::string const& what) const;
    // A whole number of at most 2^31 - 1.
    std::uint32_t count(Line const& line, std::string_view word, std::string_view what) const;
    // "100Gbps", "2.5e10" (b/s)
    Rate rate(Line const& line, std::string_view word) const;
    // "1us", "0.001ms"; without a unit it is refused
    Time time(Line const& line, std::string_view word) const;
    // A decimal number above zero.
    double number(Line const& line, std::string_view word, std::string_view what) const;

  private:
    std::string name_, text_;
    std::vector<Line> lines_;
};

}  // namespace orrery
