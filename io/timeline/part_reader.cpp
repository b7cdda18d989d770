// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/part_reader.hpp"

#include "core/check.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Of `count` rows of which those with a property come first: how many have it.
template <class Property>
std::uint64_t first_row_not(std::uint64_t count, Property const& has) {
    std::uint64_t first = 0;
    while (count > 0) {
        auto const half = count / 2;
        if (has(first + half)) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

}  // namespace

// The tail before the file: the chunks that it follows are in the file by then.
PartReader::PartReader(PartSource const& source) : PartReader(source, read_tail(tail_path(source.path))) {}

PartReader::PartReader(PartSource const& source, std::optional<Tail> tail)
    : path_(source.path), file_(hdf5::File::open(path_, hdf5::ReadMode::live)), setup_(read_setup(file_, path_)) {
    ORRERY_VALIDATE(tail, "cannot use {} (its tail, {}, is missing)", path_.string(), tail_path(path_).string());
    complete_until_ = tail->note.complete_until;
    flushed_at_ = tail->note.written_at;
    for (std::size_t t = 0; t < timeline_tables().size(); ++t) {
        auto const& table = timeline_tables()[t];
        auto const group = file_.open_group(table.name);
        auto& entry = tables_.emplace_back(Rows{.columns = {}, .tail = std::move(tail->tables[t])});
        for (auto const& column : table.columns) {
            auto const& dataset = entry.columns.emplace_back(group.open_dataset(column.name));
            ORRERY_VALIDATE(dataset.type() == hdf5::RowType{column.element}, "cannot use {} (it holds {}, not {})",
                            dataset.where(), dataset.type().name(), hdf5::RowType{column.element}.name());
            ORRERY_VALIDATE(entry.in_file() <= dataset.rows(), "cannot use {} (it holds {} rows, its tail follows {})",
                            dataset.where(), dataset.rows(), entry.in_file());
        }
        entry.rows = entry.in_file() + entry.tail.rows.rows();
        if (!source.rows) continue;
        ORRERY_VALIDATE((*source.rows)[t] <= entry.rows, "cannot use {} (it holds {} rows and {} belong to the run)",
                        group.where(), entry.rows, (*source.rows)[t]);
        entry.rows = (*source.rows)[t];
    }
}

std::uint64_t PartReader::rows_before(TableId id, Time until) const {
    if (until == Time::infinity()) return rows(id);
    if (timeline_table(id).moment == Table::Moment::end_of_run) return 0;
    return first_row_not(rows(id), [&](std::uint64_t row) { return time_of(id, row) < until; });
}

std::uint64_t PartReader::rows_below(TableId id, RowKey key) const {
    return first_row_not(rows(id), [&](std::uint64_t row) { return this->key(id, row) < key; });
}

std::uint64_t PartReader::whole_chunks(TableId id) const {
    auto const& table = tables_[static_cast<std::size_t>(id)];
    return std::min(table.in_file(), table.rows) / timeline_chunk_rows;
}

RowBlock PartReader::row(TableId id, std::uint64_t row, std::span<std::size_t const> columns) const {
    auto const& table = tables_[static_cast<std::size_t>(id)];
    RowBlock one(timeline_table(id), 1);
    if (row >= table.in_file()) {
        one.append(table.tail.rows, row - table.tail.first_row, 1);
        return one;
    }
    one.resize(1);
    for (auto const c : columns) table.columns[c].read(row, one.column(c));
    return one;
}

RowKey PartReader::key(TableId id, std::uint64_t row) const {
    auto const& table = timeline_table(id);
    return table.key(this->row(id, row, table.key_columns), 0);
}

Time PartReader::time_of(TableId id, std::uint64_t row) const {
    auto const& table = timeline_table(id);
    auto const c = table.moment_column;
    auto const one = this->row(id, row, std::span(&c, 1));
    if (table.moment == Table::Moment::time) return Time::from_ps(one.at<std::int64_t>(c, 0));
    return (static_cast<std::int64_t>(one.at<std::uint32_t>(c, 0)) + 1) * setup_.link_bin;
}

void PartReader::read(TableId id, std::uint64_t first, RowBlock& block) const {
    auto const& table = tables_[static_cast<std::size_t>(id)];
    ORRERY_ENSURE(first <= table.rows, "row {} of {}", first, table.rows);
    std::uint64_t const end = std::min(table.rows, first + block.capacity());
    std::uint64_t const split = std::clamp(table.in_file(), first, end);
    block.resize(split - first);
    for (std::size_t c = 0; first < split && c < table.columns.size(); ++c)
        table.columns[c].read(first, block.column(c));
    if (split < end) block.append(table.tail.rows, split - table.tail.first_row, end - split);
}

}  // namespace orrery
