// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"
#include "io/timeline/part.hpp"

#include <system_error>

namespace orrery {
namespace {

hdf5::File create_part(std::filesystem::path const& path) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    ORRERY_VALIDATE(!error, "cannot create directory {} ({})", path.parent_path().string(), error.message());
    return hdf5::File::create(path, hdf5::Format::streaming);
}

}  // namespace

std::size_t part_buffer_bytes() {
    std::size_t row_bytes = 0;
    for (auto const& table : timeline_tables())
        for (auto const& column : table.columns) row_bytes += hdf5::RowType{column.element}.size();
    return row_bytes * timeline_chunk_rows;
}

std::filesystem::path part_path(std::filesystem::path const& directory, int process) {
    return directory / "parts" / fmt::format("p{:04}.h5", process);
}

std::filesystem::path tail_path(std::filesystem::path const& part) {
    auto path = part;
    return path.replace_extension(".tail");
}

PartWriter::PartWriter(std::filesystem::path const& directory, int process, Detail detail)
    : path_(part_path(directory, process)), detail_(detail), file_(create_part(path_)) {
    file_.set_attribute("detail", name_of(detail));
    for (auto const& table : timeline_tables()) tables_.emplace_back(file_, table);
    file_.start_streaming();
    file_.flush();
    std::error_code ignored;
    std::filesystem::remove(tail_path(path_), ignored);  // of an earlier run
}

PartWriter::~PartWriter() {
    try {
        close();
    } catch (std::exception const&) {  // nobody is left to tell; the rows up to the last flush stay readable
    }
}

void PartWriter::flush() {
    ORRERY_ENSURE(open_, "flush of the closed part {}", path_.string());
    // The file first: a tail never claims to follow rows that are not there yet.
    file_.flush();
    std::vector<TailTable> open;
    for (auto const& table : tables_) open.push_back({table.written_rows(), &table.open_rows()});
    write_tail(tail_path(path_), open);
}

void PartWriter::close() {
    if (!open_) return;
    open_ = false;
    for (auto& table : tables_) table.finish();
    tables_.clear();
    file_.close();
    std::error_code ignored;
    std::filesystem::remove(tail_path(path_), ignored);
}

}  // namespace orrery
