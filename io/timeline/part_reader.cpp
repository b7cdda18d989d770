// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"
#include "io/timeline/part.hpp"

#include <algorithm>

namespace orrery {

PartReader::PartReader(std::filesystem::path const& path, hdf5::ReadMode mode)
    : path_(path), file_(hdf5::File::open(path, mode)) {
    detail_ = std::get<std::string>(file_.attribute("detail"));
    // The tail before the row counts: a chunk that is completed in between then hides the tail, not the other way.
    auto tail = mode == hdf5::ReadMode::live ? read_tail(tail_path(path)) : std::nullopt;
    for (std::size_t t = 0; t < timeline_tables().size(); ++t) {
        auto const& table = timeline_tables()[t];
        auto const group = file_.open_group(table.name);
        auto& entry = tables_.emplace_back();
        for (auto const& column : table.columns) {
            auto const& dataset = entry.columns.emplace_back(group.open_dataset(column.name));
            ORRERY_VALIDATE(dataset.type() == hdf5::RowType{column.element}, "cannot use {} (it holds {}, not {})",
                            dataset.where(), dataset.type().name(), hdf5::RowType{column.element}.name());
        }
        // Columns of one table are written one after the other: a killed writer leaves some a chunk longer.
        entry.in_file = std::ranges::min_element(entry.columns, {}, &hdf5::Dataset::rows)->rows();
        auto const longest = std::ranges::max_element(entry.columns, {}, &hdf5::Dataset::rows)->rows();
        ORRERY_VALIDATE(mode == hdf5::ReadMode::live || longest == entry.in_file,
                        "cannot use {} (its columns differ in length)", group.where());
        entry.rows = entry.in_file;
        if (!tail) continue;
        entry.tail = std::move((*tail)[t]);
        ORRERY_VALIDATE(entry.tail.first_row <= entry.in_file,
                        "cannot use {} (it holds {} rows and its tail starts at row {})", group.where(), entry.in_file,
                        entry.tail.first_row);
        entry.rows = std::max(entry.rows, entry.tail.first_row + entry.tail.rows.rows());
    }
}

void PartReader::read(TableId id, std::uint64_t first, RowBlock& block) const {
    auto const& table = tables_[static_cast<std::size_t>(id)];
    ORRERY_ENSURE(first <= table.rows, "row {} of {}", first, table.rows);
    std::uint64_t const end = std::min(table.rows, first + block.capacity());
    std::uint64_t const split = std::clamp(table.in_file, first, end);
    block.resize(split - first);
    for (std::size_t c = 0; first < split && c < table.columns.size(); ++c)
        table.columns[c].read(first, block.column(c));
    if (split < end) block.append(table.tail.rows, split - table.tail.first_row, end - split);
}

}  // namespace orrery
