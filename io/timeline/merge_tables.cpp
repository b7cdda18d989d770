// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/merge_tables.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace orrery {
namespace {

constexpr RowKey beyond_all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::uint64_t>::max()};

// Walks through one table of one part, a chunk at a time.
class TableCursor {
  public:
    TableCursor(PartReader const& part, TableId id)
        : part_(&part), id_(id), block_(timeline_table(id), std::min<std::size_t>(timeline_chunk_rows, part.rows(id))) {
        load();
    }

    bool done() const { return at_ == keys_.size(); }
    RowKey head() const { return keys_[at_]; }

    // Hands on all rows of this chunk below the limit: at least one, or two parts hold the same row.
    void advance(RowKey limit, TableWriter& out) {
        auto const begin = keys_.begin() + static_cast<std::ptrdiff_t>(at_);
        auto const end = gallop(begin, limit);
        ORRERY_ENSURE(begin != end, "a row of {} is in {} and in another part", out.table().name,
                      part_->path().string());
        auto const count = static_cast<std::size_t>(end - begin);
        out.append(block_, at_, count);
        at_ += count;
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
        auto const last = keys_.empty() ? RowKey{std::numeric_limits<std::int64_t>::min(), 0} : keys_.back();
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

void merge_table(std::span<PartReader const> parts, TableId id, TableWriter& out) {
    std::vector<TableCursor> heap;
    for (auto const& part : parts)
        if (part.rows(id) > 0) heap.emplace_back(part, id);
    auto const later = [](TableCursor const& a, TableCursor const& b) { return b.head() < a.head(); };
    std::ranges::make_heap(heap, later);
    while (!heap.empty()) {
        std::ranges::pop_heap(heap, later);
        auto& first = heap.back();
        first.advance(heap.size() > 1 ? heap.front().head() : beyond_all, out);
        if (first.done()) {
            heap.pop_back();
        } else {
            std::ranges::push_heap(heap, later);
        }
    }
    out.finish();
}

}  // namespace

void merge_tables(std::span<PartReader const> parts, hdf5::Group& out) {
    for (std::size_t t = 0; t < timeline_tables().size(); ++t) {
        TableWriter writer(out, timeline_tables()[t]);
        merge_table(parts, static_cast<TableId>(t), writer);
    }
}

}  // namespace orrery
