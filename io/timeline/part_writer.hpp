// SPDX-License-Identifier: Apache-2.0
// The file that one process appends to while the run goes on.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/part.hpp"
#include "io/timeline/table_writer.hpp"
#include "io/timeline/tail.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace orrery {

// Others may read the part meanwhile (single writer, multiple readers). After a kill everything up to the last flush()
// is there: whole chunks in the HDF5 file, the rest in the tail. Rows must come in the canonical order of their table
// (timeline_tables()); rows that the level of detail leaves out are dropped here.
class PartWriter final : public TimelineSink {
  public:
    // Replaces a part of that name.
    explicit PartWriter(PartSetup const& setup);
    // Closes when that has not been done; a failure is then lost, so call close().
    ~PartWriter() override;
    PartWriter(PartWriter const&) = delete;
    PartWriter& operator=(PartWriter const&) = delete;

    void add(OperationRow const& row) override { add_to(TableId::operations, row); }
    void add(CollectiveRow const& row) override { add_to(TableId::collectives, row); }
    void add(ExpertLoadRow const& row) override { add_to(TableId::expert_loads, row); }
    void add(LinkBinRow const& row) override { add_to(TableId::link_bins, row); }
    void add(PairRow const& row) override { add_to(TableId::pairs, row); }
    void add(PacketBinRow const& row) override { add_to(TableId::packet_bins, row); }

    // Every row of this process with a time below `complete_until` has been added. The time of an operation is its
    // end, of a collective its last_end, of a bin of a link the end of the bin; rows that sum over the run have
    // infinity.
    void flush(Time complete_until);
    void close(Time complete_until = Time::infinity());

    // Added so far.
    std::uint64_t rows(TableId id) const;
    RowCounts rows() const;
    std::int64_t bytes() const;
    // Spent in writing whole chunks; the caller knows what it spends in flush() and close().
    double chunk_seconds() const;
    // Upper bound of what a writer holds, however many rows it is given.
    static std::int64_t memory_bytes(Detail detail);
    std::filesystem::path const& path() const { return path_; }

  private:
    template <class Row>
    void add_to(TableId id, Row const& row) {
        auto& table = tables_[static_cast<std::size_t>(id)];
        if (detail_ < table.table().least_detail) return;
        try {
            table.add(row);
        } catch (...) {
            broken_ = true;
            throw;
        }
    }

    TailNote note(TailNote::State state) const;

    std::filesystem::path path_;
    Detail detail_;
    bool open_ = true;
    bool broken_ = false;  // writing has failed: the part stays as a kill would have left it
    Time complete_until_;
    RowCounts closed_rows_{};
    hdf5::File file_;
    std::vector<TableWriter> tables_;
    double closed_seconds_ = 0;  // of tables that are closed
};

}  // namespace orrery
