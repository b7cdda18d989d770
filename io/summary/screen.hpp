// SPDX-License-Identifier: Apache-2.0
// The result screen: one screen of 80 columns and at most 40 lines that says what limits the workload.
#pragma once

#include "io/summary/summary.hpp"

#include <string>

namespace orrery {

struct ScreenExtras {
    std::string scenario;  // its name
    std::string output;    // path of the timeline
};

inline constexpr std::size_t screen_columns = 80;

// Plain ASCII (other bytes become '?'), every line ended, the last one "digest: <hex>".
std::string render_screen(Summary const& summary, ScreenExtras const& extras);

// At most `width` characters: a longer text loses its middle to "..".
std::string shorten(std::string const& text, std::size_t width);

}  // namespace orrery
