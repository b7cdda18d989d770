// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/merge_tables.hpp"

#include "core/check.hpp"
#include "io/timeline/merge_slices.hpp"
#include "io/timeline/table_writer.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace orrery {
namespace {

constexpr RowKey beyond_all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::uint64_t>::max()};

// Walks through one table of one part, a block at a time.
class TableCursor {
  public:
    TableCursor(PartReader const& part, TableId id, std::uint64_t first, std::size_t block_rows)
        : part_(&part),
          id_(id),
          block_(timeline_table(id), std::min<std::size_t>(block_rows, part.rows(id) - first)),
          next_(first) {
        load();
    }

    bool done() const { return at_ == keys_.size(); }
    RowKey head() const { return keys_[at_]; }

    // Rows of this block below the limit: at least one, or two parts hold the same row.
    std::size_t below(RowKey limit) const {
        auto const begin = keys_.begin() + static_cast<std::ptrdiff_t>(at_);
        auto const end = gallop(begin, limit);
        ORRERY_ENSURE(begin != end, "a row of {} is in {} and in another part", timeline_table(id_).name,
                      part_->path().string());
        return static_cast<std::size_t>(end - begin);
    }
    void hand_on(std::size_t rows, TableWriter& out) {
        out.append(block_, at_, rows);
        drop(rows);
    }
    void drop(std::size_t rows) {
        at_ += rows;
        if (done()) load();
    }

  private:
    using Iterator = std::vector<RowKey>::const_iterator;

    // Runs are often short and sometimes whole chunks: double the step, then search in the last one.
    Iterator gallop(Iterator begin, RowKey limit) const {
        std::ptrdiff_t step = 1;
        auto low = begin;
        while (keys_.end() - low > step && *(low + step) < limit) {
            low += step;
            step *= 2;
        }
        auto const high = keys_.end() - low > step ? low + step + 1 : keys_.end();
        return std::lower_bound(low, high, limit);
    }

    void load() {
        auto const last = keys_.empty() ? before_all : keys_.back();
        part_->read(id_, next_, block_);
        keys_.resize(block_.rows());
        at_ = 0;
        auto const& table = timeline_table(id_);
        for (std::size_t row = 0; row < keys_.size(); ++row) {
            keys_[row] = table.key(block_, row);
            ORRERY_ENSURE((row > 0 ? keys_[row - 1] : last) < keys_[row],
                          "row {} of {} in {} is out of order (the order is {})", next_ + row, table.name,
                          part_->path().string(), table.order);
        }
        next_ += keys_.size();
    }

    PartReader const* part_;
    TableId id_;
    RowBlock block_;
    std::vector<RowKey> keys_;
    std::uint64_t next_ = 0;
    std::size_t at_ = 0;
};

// Blocks of all parts together take at most what this many whole chunks do (1.3 MB each in the widest table).
constexpr std::size_t chunks_in_memory = 64;

void merge_slice(std::span<PartReader const> parts, TableId id, MergeSlice slice, TableWriter& out) {
    auto const block_rows =
        std::clamp<std::size_t>(timeline_chunk_rows * chunks_in_memory / parts.size(), 1, timeline_chunk_rows);
    std::vector<TableCursor> heap;
    for (auto const& part : parts)
        if (auto const first = slice.from == before_all ? 0 : part.rows_below(id, slice.from); first < part.rows(id))
            heap.emplace_back(part, id, first, block_rows);
    auto const later = [](TableCursor const& a, TableCursor const& b) { return b.head() < a.head(); };
    std::ranges::make_heap(heap, later);
    while (slice.rows > 0) {
        std::ranges::pop_heap(heap, later);
        auto& first = heap.back();
        auto const rows = first.below(heap.size() > 1 ? heap.front().head() : beyond_all);
        if (slice.skipped > 0) {
            auto const skipped = std::min<std::uint64_t>(slice.skipped, rows);
            first.drop(skipped);
            slice.skipped -= skipped;
        } else {
            auto const taken = std::min<std::uint64_t>(slice.rows, rows);
            first.hand_on(taken, out);
            slice.rows -= taken;
        }
        if (first.done()) {
            heap.pop_back();
        } else {
            std::ranges::push_heap(heap, later);
        }
    }
}

// Rows from `first` on, of the only part that has any.
void copy_rows(PartReader const& part, TableId id, std::uint64_t first, TableWriter& out) {
    RowBlock block(timeline_table(id), timeline_chunk_rows);
    for (; first < part.rows(id); first += block.rows()) {
        part.read(id, first, block);
        out.append(block, 0, block.rows());
    }
}

void merge_table(std::span<PartReader const> parts, TableId id, MergeRange const& range, TableWriter& out) {
    PartReader const* only = nullptr;
    std::size_t with_rows = 0;
    for (auto const& part : parts)
        if (part.rows(id) > 0) {
            only = &part;
            ++with_rows;
        }
    if (with_rows == 1 && range.index == 0) {
        out.append_chunks(only->columns(id), only->whole_chunks(id));
        copy_rows(*only, id, only->whole_chunks(id) * timeline_chunk_rows, out);
    } else if (with_rows > 1) {
        merge_slice(parts, id, slice_of(parts, id, range), out);
    }
    out.finish();
}

}  // namespace

void merge_tables(std::span<PartReader const> parts, hdf5::Group& out, MergeRange const& range) {
    for (std::size_t t = 0; t < timeline_tables().size(); ++t) {
        TableWriter writer(out, timeline_tables()[t]);
        merge_table(parts, static_cast<TableId>(t), range, writer);
    }
}

void join_tables(std::vector<std::filesystem::path> const& ranges, hdf5::Group& out) {
    std::vector<hdf5::File> files;
    for (auto const& path : ranges) files.push_back(hdf5::File::open(path, hdf5::ReadMode::closed));
    for (auto const& table : timeline_tables()) {
        TableWriter writer(out, table);
        for (auto const& file : files) {
            auto const group = file.open_group(table.name);
            std::vector<hdf5::Dataset> columns;
            for (auto const& column : table.columns) columns.push_back(group.open_dataset(column.name));
            auto const rows = columns.front().rows(), whole = rows / timeline_chunk_rows;
            writer.append_chunks(columns, whole);
            RowBlock rest(table, rows % timeline_chunk_rows);
            rest.resize(rest.capacity());
            for (std::size_t c = 0; rest.rows() > 0 && c < columns.size(); ++c)
                columns[c].read(whole * timeline_chunk_rows, rest.column(c));
            writer.append(rest, 0, rest.rows());
        }
        writer.finish();
    }
}

}  // namespace orrery
