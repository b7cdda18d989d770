// SPDX-License-Identifier: Apache-2.0
// The file that one process appends to while the run goes on, and its reader.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/table_writer.hpp"
#include "io/timeline/tail.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace orrery {

// Upper bound of the row buffers of one PartWriter, in bytes: one open chunk of every table.
std::size_t part_buffer_bytes();

// Writes DIRECTORY/parts/p0000.h5 (the number is the process). Others may read it meanwhile (single writer, multiple
// readers). After a kill everything up to the last flush() is there: whole chunks in the HDF5 file, the rest in
// p0000.tail. Rows must come in the canonical order of their table (timeline_tables()); rows that the level of detail
// leaves out are dropped here.
class PartWriter final : public TimelineSink {
  public:
    PartWriter(std::filesystem::path const& directory, int process, Detail detail);
    // Closes when that has not been done; a failure is then lost, so call close().
    ~PartWriter() override;
    PartWriter(PartWriter const&) = delete;
    PartWriter& operator=(PartWriter const&) = delete;

    void add(OperationRow const& row) override { add_to(TableId::operations, row); }
    void add(CollectiveRow const& row) override { add_to(TableId::collectives, row); }
    void add(ExpertLoadRow const& row) override { add_to(TableId::expert_loads, row); }
    void add(LinkBinRow const& row) override { add_to(TableId::link_bins, row); }
    void add(PairRow const& row) override { add_to(TableId::pairs, row); }

    void flush();
    void close();
    std::filesystem::path const& path() const { return path_; }

  private:
    template <class Row>
    void add_to(TableId id, Row const& row) {
        auto& table = tables_[static_cast<std::size_t>(id)];
        if (detail_ >= table.table().least_detail) table.add(row);
    }

    std::filesystem::path path_;
    Detail detail_;
    bool open_ = true;
    hdf5::File file_;
    std::vector<TableWriter> tables_;
};

// Where PartWriter puts the part of a process, and the tail of a part.
std::filesystem::path part_path(std::filesystem::path const& directory, int process);
std::filesystem::path tail_path(std::filesystem::path const& part);

// Reads a part: a closed one, or with ReadMode::live one that is still being written or was left by a killed process
// (whole chunks plus the tail). The number of rows is that at the opening.
class PartReader {
  public:
    PartReader(std::filesystem::path const& path, hdf5::ReadMode mode);

    std::filesystem::path const& path() const { return path_; }
    std::string const& detail() const { return detail_; }
    std::uint64_t rows(TableId id) const { return tables_[static_cast<std::size_t>(id)].rows; }
    // Fills the block with rows from `first` on, up to its capacity or the end of the table.
    void read(TableId id, std::uint64_t first, RowBlock& block) const;

  private:
    struct Rows {
        std::vector<hdf5::Dataset> columns;
        std::uint64_t in_file = 0, rows = 0;
        TailRows tail;
    };

    std::filesystem::path path_;
    hdf5::File file_;
    std::string detail_;
    std::vector<Rows> tables_;
};

}  // namespace orrery
