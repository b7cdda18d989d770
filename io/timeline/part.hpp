// SPDX-License-Identifier: Apache-2.0
// The parts of a timeline: their names, what one is told at its start, and how much of one belongs to the result.
//
// A run consists of legs: a leg is what one launch simulates, and a resumed run has several. Every process of a leg
// writes one part, DIRECTORY/parts/l000.p0000.h5 (leg, process), with l000.p0000.tail beside it.
#pragma once

#include "core/units.hpp"
#include "io/timeline/hdf5.hpp"
#include "io/timeline/table.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace orrery {

// A part, and how many rows of each table count: what lies beyond came after the checkpoint from which the next leg
// started, which simulated it again.
struct PartSource {
    std::filesystem::path path;
    std::optional<RowCounts> rows{};  // nothing: all
    friend bool operator==(PartSource const&, PartSource const&) = default;
};

struct PartSetup {
    std::filesystem::path directory;
    std::uint32_t leg = 0;
    std::uint32_t process = 0, processes = 1;  // of this leg
    Detail detail = Detail::full;
    Time link_bin = Time::from_ps(1);  // width of the time bins of link_bins
    std::vector<PartSource> earlier;   // of the legs before, in the same directory
};

std::filesystem::path part_path(std::filesystem::path const& directory, std::uint32_t leg, std::uint32_t process);
std::filesystem::path tail_path(std::filesystem::path const& part);

// Parts of this leg and later ones.
void remove_parts_from_leg(std::filesystem::path const& directory, std::uint32_t leg);

// As attributes of the part. Earlier parts stand there without their folder, so that it can be moved.
void write_setup(hdf5::Object& part, PartSetup const& setup);
PartSetup read_setup(hdf5::Object const& part, std::filesystem::path const& path);

}  // namespace orrery
