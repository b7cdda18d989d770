// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/part_writer.hpp"

#include "core/check.hpp"
#include "io/timeline/atomic_file.hpp"

#include <algorithm>
#include <system_error>

namespace orrery {
namespace {

hdf5::File create_part(std::filesystem::path const& path) {
    make_directory(path.parent_path());
    std::error_code ignored;
    std::filesystem::remove(tail_path(path), ignored);  // of an earlier part of that name, before its rows are gone
    return hdf5::File::create(path, hdf5::Format::streaming);
}

}  // namespace

PartWriter::PartWriter(PartSetup const& setup)
    : path_(part_path(setup.directory, setup.leg, setup.process)), detail_(setup.detail), file_(create_part(path_)) {
    write_setup(file_, setup);
    for (auto const& table : timeline_tables()) tables_.emplace_back(file_, table);
    file_.start_streaming();
    flush({});
}

std::int64_t PartWriter::memory_bytes(Detail detail) {
    std::int64_t open = 0, largest = 0;
    for (auto const& table : timeline_tables()) {
        if (detail < table.least_detail) continue;
        open += row_bytes(table) * static_cast<std::int64_t>(timeline_chunk_rows);
        for (auto const& column : table.columns)
            largest = std::max(largest, static_cast<std::int64_t>(hdf5::RowType{column.element}.size()));
    }
    // The open rows, a copy of them while a flush writes the tail, one column while HDF5 shuffles and compresses it.
    return 2 * open + 3 * largest * static_cast<std::int64_t>(timeline_chunk_rows) + hdf5::streaming_metadata_bytes;
}

PartWriter::~PartWriter() {
    try {
        if (!broken_) close(complete_until_);
    } catch (std::exception const&) {  // nobody is left to tell; the rows up to the last flush stay readable
    }
}

std::uint64_t PartWriter::rows(TableId id) const {
    auto const t = static_cast<std::size_t>(id);
    return open_ ? tables_[t].written_rows() + tables_[t].open_rows().rows() : closed_rows_[t];
}

RowCounts PartWriter::rows() const {
    RowCounts counts{};
    for (std::size_t t = 0; t < counts.size(); ++t) counts[t] = rows(static_cast<TableId>(t));
    return counts;
}

std::int64_t PartWriter::bytes() const {
    std::int64_t bytes = 0;
    for (std::size_t t = 0; t < timeline_table_count; ++t)
        bytes += row_bytes(timeline_tables()[t]) * static_cast<std::int64_t>(rows(static_cast<TableId>(t)));
    return bytes;
}

double PartWriter::chunk_seconds() const {
    double seconds = closed_seconds_;
    for (auto const& table : tables_) seconds += table.seconds();
    return seconds;
}

void PartWriter::flush(Time complete_until) {
    ORRERY_ENSURE(open_, "flush of the closed part {}", path_.string());
    broken_ = true;  // until all is done
    // The file first: a tail never claims to follow rows that are not there yet.
    file_.flush();
    sync_file(path_);
    complete_until_ = complete_until;
    std::vector<TailTable> open;
    for (auto const& table : tables_) open.push_back({table.written_rows(), &table.open_rows()});
    write_tail(tail_path(path_), note(TailNote::State::open), open);
    broken_ = false;
}

void PartWriter::close(Time complete_until) {
    if (!open_) return;
    closed_rows_ = rows();
    open_ = false;
    broken_ = true;
    complete_until_ = complete_until;
    std::vector<TailTable> ends;
    for (auto& table : tables_) {
        table.finish();
        ends.push_back({table.written_rows(), nullptr});
    }
    closed_seconds_ = chunk_seconds();
    file_.flush();  // in the order that keeps a part readable; closing alone has none
    sync_file(path_);
    tables_.clear();
    file_.close();
    sync_file(path_);
    write_tail(tail_path(path_), note(TailNote::State::closed), ends);
    broken_ = false;
}

TailNote PartWriter::note(TailNote::State state) const {
    return {.complete_until = complete_until_, .state = state, .written_at = std::chrono::system_clock::now()};
}

}  // namespace orrery
