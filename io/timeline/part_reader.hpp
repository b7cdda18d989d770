// SPDX-License-Identifier: Apache-2.0
// Reads a part: a closed one, one that is still being written, or one that was left by a killed process.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/part.hpp"
#include "io/timeline/tail.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace orrery {

// Shows what was flushed last: the chunks that the tail follows, and the tail. What the HDF5 file holds beyond them is
// ignored: after a kill or on a full disk its sizes may be on the disk before its rows.
class PartReader {
  public:
    explicit PartReader(PartSource const& source);

    std::filesystem::path const& path() const { return path_; }
    PartSetup const& setup() const { return setup_; }

    // Rows of the table, at most as many as the source says.
    std::uint64_t rows(TableId id) const { return tables_[static_cast<std::size_t>(id)].rows; }
    // As of the last flush: what PartWriter::flush() was told, and when that was.
    Time complete_until() const { return complete_until_; }
    std::chrono::system_clock::time_point flushed_at() const { return flushed_at_; }
    // Rows of the table with a time below `until`; such rows come first.
    std::uint64_t rows_before(TableId id, Time until) const;
    RowKey key(TableId id, std::uint64_t row) const;
    // Rows whose key is below `key`; such rows come first.
    std::uint64_t rows_below(TableId id, RowKey key) const;
    // Whole chunks, and the columns that hold them.
    std::uint64_t whole_chunks(TableId id) const;
    std::span<hdf5::Dataset const> columns(TableId id) const { return tables_[static_cast<std::size_t>(id)].columns; }
    // Fills the block with rows from `first` on, up to its capacity or the end of the table.
    void read(TableId id, std::uint64_t first, RowBlock& block) const;

  private:
    struct Rows {
        std::vector<hdf5::Dataset> columns;
        TailRows tail;
        std::uint64_t rows = 0;
        std::uint64_t in_file() const { return tail.first_row; }
    };

    PartReader(PartSource const& source, std::optional<Tail> tail);
    // One row with these columns filled.
    RowBlock row(TableId id, std::uint64_t row, std::span<std::size_t const> columns) const;
    Time time_of(TableId id, std::uint64_t row) const;

    std::filesystem::path path_;
    hdf5::File file_;
    PartSetup setup_;
    Time complete_until_;
    std::chrono::system_clock::time_point flushed_at_;
    std::vector<Rows> tables_;
};

}  // namespace orrery
