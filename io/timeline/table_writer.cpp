// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/table_writer.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace orrery {

TableWriter::TableWriter(hdf5::Group& parent, Table const& table) : table_(&table) {
    auto group = parent.create_group(table.name);
    where_ = group.where();
    group.set_attribute("long_name", table.long_name);
    group.set_attribute("order", table.order);
    std::vector<std::string> names;
    for (auto const& column : table.columns) names.emplace_back(column.name);
    group.set_attribute("columns", names);  // in the order of a tail
    for (auto const& column : table.columns) {
        auto& dataset = columns_.emplace_back(group.create_dataset(column.name, {column.element}, timeline_chunk_rows));
        dataset.set_attribute("units", column.unit);
        dataset.set_attribute("long_name", column.long_name);
        if (std::string_view(column.name) == "kind") dataset.set_attribute("names", operation_kind_names());
    }
}

void TableWriter::append(RowBlock const& rows, std::size_t first, std::size_t count) {
    if (open_.capacity() == 0) open_ = RowBlock(*table_, timeline_chunk_rows);
    while (count > 0) {
        auto const n = std::min(count, open_.capacity() - open_.rows());
        open_.append(rows, first, n);
        if (open_.rows() == open_.capacity()) write_open();
        first += n;
        count -= n;
    }
}

void TableWriter::append_chunks(std::span<hdf5::Dataset const> columns, std::uint64_t count) {
    if (count == 0) return;
    ORRERY_ENSURE(open_.rows() == 0, "{} open rows before whole chunks of {}", open_.rows(), where_);
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].append_chunks(columns[c], 0, count);
}

void TableWriter::check_order(std::size_t row) {
    auto const key = table_->key(open_, row);
    ORRERY_ENSURE(last_ < key, "row {} of {} is out of order or there twice (the order is {})", written_rows() + row,
                  where_, table_->order);
    last_ = key;
}

void TableWriter::write_open() {
    if (open_.rows() == 0) return;  // nothing, or a block that was never given memory
    auto const start = std::chrono::steady_clock::now();
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].append(std::as_const(open_).column(c));
    open_.resize(0);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace orrery
