// SPDX-License-Identifier: Apache-2.0
// The tables of a timeline: their columns, units and canonical row order, and blocks of rows held as plain columns.
#pragma once

#include "core/records.hpp"
#include "io/timeline/hdf5.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Chunk of every column, in parts and in the finished file.
inline constexpr std::size_t timeline_chunk_rows = std::size_t{16} * 1024;

// How much a run records. `layers` leaves out pairs; `summary` leaves out operations, pairs and expert loads.
enum class Detail : std::uint8_t { summary, layers, full };
char const* name_of(Detail);
Detail detail_named(std::string_view name);  // InputError for any other name

struct Column {
    char const* name;
    hdf5::Element element;
    char const* unit;
    char const* long_name;
};

// A row's place in the canonical order, packed from its key columns; no two rows of a table share one.
struct RowKey {
    std::int64_t first = 0;
    std::uint64_t second = 0;
    friend constexpr std::strong_ordering operator<=>(RowKey const&, RowKey const&) = default;
};

class RowBlock;

struct Table {
    char const* name;
    char const* long_name;
    char const* order;  // the key, for people
    std::span<Column const> columns;
    RowKey (*key)(RowBlock const&, std::size_t row);
    std::span<std::size_t const> key_columns;  // what key() looks at
    Detail least_detail;                       // recorded from this level on
    // The column that says when a row is known, and what an entry of it means. Rows in order are in order of it too.
    enum class Moment : std::uint8_t { time, bin, end_of_run } moment;
    std::size_t moment_column;
};

enum class TableId : std::uint8_t { operations, collectives, link_bins, pairs, expert_loads, packet_bins };
inline constexpr std::size_t timeline_table_count = 6;
std::span<Table const> timeline_tables();
std::int64_t row_bytes(Table const& table);  // in memory
inline Table const& timeline_table(TableId id) {
    return timeline_tables()[static_cast<std::size_t>(id)];
}

// A number of rows for every table, indexed by TableId.
using RowCounts = std::array<std::uint64_t, timeline_table_count>;

// At most `capacity` rows of one table, one plain array per column.
class RowBlock {
  public:
    RowBlock() = default;
    RowBlock(Table const& table, std::size_t capacity);

    std::size_t rows() const { return rows_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t columns() const { return columns_.size(); }
    std::size_t width(std::size_t column) const { return columns_[column].width; }
    void resize(std::size_t rows) { rows_ = rows; }
    // The bytes of one column, of the rows held.
    std::span<std::byte const> column(std::size_t c) const { return {columns_[c].data.data(), rows_ * width(c)}; }
    std::span<std::byte> column(std::size_t c) { return {columns_[c].data.data(), rows_ * width(c)}; }
    // Copies rows [first, first + count) of another block of this table behind the rows held.
    void append(RowBlock const& other, std::size_t first, std::size_t count);

    template <class T>
    T at(std::size_t c, std::size_t row) const {
        T value;
        std::memcpy(&value, columns_[c].data.data() + row * sizeof(T), sizeof(T));
        return value;
    }
    template <class T>
    void set(std::size_t c, std::size_t row, T value) {
        std::memcpy(columns_[c].data.data() + row * sizeof(T), &value, sizeof(T));
    }

  private:
    struct Data {
        std::size_t width = 0;
        std::vector<std::byte> data;
    };
    std::vector<Data> columns_;
    std::size_t rows_ = 0, capacity_ = 0;
};

// Adds one row to a block of the matching table that has room.
void put(RowBlock& block, OperationRow const& row);
void put(RowBlock& block, CollectiveRow const& row);
void put(RowBlock& block, LinkBinRow const& row);
void put(RowBlock& block, PairRow const& row);
void put(RowBlock& block, ExpertLoadRow const& row);
void put(RowBlock& block, PacketBinRow const& row);

// Names in the order of OpKind, for the `names` attribute of every `kind` column.
std::vector<std::string> operation_kind_names();

}  // namespace orrery
