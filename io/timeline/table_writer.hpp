// SPDX-License-Identifier: Apache-2.0
// Appends rows of one table to a file in whole chunks, and checks that they come in canonical order.
#pragma once

#include "io/timeline/table.hpp"

#include <string>
#include <vector>

namespace orrery {

class TableWriter {
  public:
    // Creates the group of the table and its empty columns.
    TableWriter(hdf5::Group& parent, Table const& table);

    template <class Row>
    void add(Row const& row) {
        if (open_.capacity() == 0) open_ = RowBlock(*table_, timeline_chunk_rows);  // no memory for unused tables
        put(open_, row);
        check_order(open_.rows() - 1);
        if (open_.rows() == open_.capacity()) write_open();
    }
    // Rows of another block, already checked to be in order.
    void append(RowBlock const& rows, std::size_t first, std::size_t count);
    // Whole chunks of the columns of the same table elsewhere, as they are; there are no open rows.
    void append_chunks(std::span<hdf5::Dataset const> columns, std::uint64_t count);
    // Writes the open rows too; after that nothing may be added.
    void finish() { write_open(); }

    Table const& table() const { return *table_; }
    std::uint64_t written_rows() const { return columns_.front().rows(); }
    RowBlock const& open_rows() const { return open_; }
    double seconds() const { return seconds_; }  // spent in writing chunks

  private:
    void check_order(std::size_t row);
    void write_open();

    Table const* table_;
    std::string where_;
    std::vector<hdf5::Dataset> columns_;
    RowBlock open_;
    double seconds_ = 0;
    RowKey last_{std::numeric_limits<std::int64_t>::min(), 0};
};

}  // namespace orrery
