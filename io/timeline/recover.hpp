// SPDX-License-Identifier: Apache-2.0
// Makes one finished file out of what a killed run left.
#pragma once

#include "core/units.hpp"
#include "io/timeline/part.hpp"
#include "io/timeline/table.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace orrery {

enum class Overwrite : std::uint8_t { no, yes };

struct Recovered {
    std::filesystem::path file;
    Time complete_until;  // infinity: the whole run
    RowCounts rows{};
    std::uint32_t leg = 0, processes = 0;  // of the leg that came furthest
    std::string note;                      // a sentence about a later leg that adds nothing; mostly empty
};

// Writes `file`, or DIRECTORY/recovered.h5 when that is empty: every row with a time before the least complete_until of
// all processes, so that every table is a prefix of that of the uninterrupted run. Pairs and expert loads, which sum
// over the run, are there when the run had come to its end. The parts are only read, and may still grow. InputError
// when nothing can be recovered.
Recovered recover_timeline(std::filesystem::path const& directory, std::filesystem::path const& file,
                           Overwrite overwrite);

}  // namespace orrery
