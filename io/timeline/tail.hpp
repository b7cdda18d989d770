// SPDX-License-Identifier: Apache-2.0
// The rows of a part that do not fill a chunk yet, kept in a small checked file beside it.
//
// They are not in the HDF5 file because a compressed chunk that is not full moves when it grows: a kill at that moment
// loses rows that had been flushed. Layout, little-endian, in words of 8 bytes: magic, payload length, checksum,
// payload; the payload is what Tail holds: complete_until in ps, state, written_at in Unix microseconds, and per table
// in the order of timeline_tables() the number of rows in the HDF5 file before it, its own number of rows, and the
// bytes of each column.
#pragma once

#include "core/units.hpp"
#include "io/timeline/table.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace orrery {

struct TailTable {
    std::uint64_t first_row = 0;     // rows of the HDF5 file that these follow
    RowBlock const* rows = nullptr;  // nothing: none
};

// What a writer says of its part beside the rows.
struct TailNote {
    enum class State : std::uint64_t { open, closed };  // closed: nothing follows
    Time complete_until;
    State state = State::open;
    std::chrono::system_clock::time_point written_at;
};

struct TailRows {
    std::uint64_t first_row = 0;
    RowBlock rows;
};

struct Tail {
    TailNote note;
    std::vector<TailRows> tables;
};

// One entry per table.
void write_tail(std::filesystem::path const& path, TailNote const& note, std::vector<TailTable> const& tables);

// Nothing when there is no such file; InputError when it is damaged.
std::optional<Tail> read_tail(std::filesystem::path const& path);

}  // namespace orrery
