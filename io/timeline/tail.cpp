// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/tail.hpp"

#include "core/check.hpp"
#include "core/checksum.hpp"
#include "io/timeline/atomic_file.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

namespace orrery {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t magic = 0x324c4941545252ffU;  // ff "RRTAIL2"
constexpr std::size_t header_bytes = 3 * sizeof(std::uint64_t);

void put_word(std::vector<std::byte>& out, std::uint64_t word) {
    auto const* bytes = reinterpret_cast<std::byte const*>(&word);
    out.insert(out.end(), bytes, bytes + sizeof word);
}

// Takes pieces off the front of a payload; false once a piece would reach beyond its end.
class Cursor {
  public:
    explicit Cursor(std::span<std::byte const> bytes) : rest_(bytes) {}
    bool take(std::span<std::byte> out) {
        if (out.size() > rest_.size()) return false;
        if (!out.empty()) std::memcpy(out.data(), rest_.data(), out.size());
        rest_ = rest_.subspan(out.size());
        return true;
    }
    bool take(std::uint64_t& word) { return take(std::as_writable_bytes(std::span(&word, 1))); }
    bool done() const { return rest_.empty(); }

  private:
    std::span<std::byte const> rest_;
};

std::uint64_t micros(std::chrono::system_clock::time_point at) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count());
}

bool parse(std::span<std::byte const> bytes, Tail& tail) {
    Cursor header(bytes);
    std::uint64_t found_magic = 0, length = 0, sum = 0;
    if (!header.take(found_magic) || !header.take(length) || !header.take(sum)) return false;
    auto const payload = bytes.subspan(header_bytes);
    if (found_magic != magic || length != payload.size() || sum != checksum_of(payload)) return false;
    Cursor cursor(payload);
    std::uint64_t complete_until = 0, state = 0, written_at = 0;
    if (!cursor.take(complete_until) || !cursor.take(state) || !cursor.take(written_at) || state > 1) return false;
    tail.note = {.complete_until = Time::from_ps(static_cast<std::int64_t>(complete_until)),
                 .state = static_cast<TailNote::State>(state),
                 .written_at = std::chrono::system_clock::time_point(std::chrono::microseconds(written_at))};
    for (auto const& table : timeline_tables()) {
        std::uint64_t first = 0, rows = 0;
        if (!cursor.take(first) || !cursor.take(rows) || rows > timeline_chunk_rows) return false;
        auto& entry = tail.tables.emplace_back(TailRows{first, RowBlock(table, rows)});
        entry.rows.resize(rows);
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (!cursor.take(entry.rows.column(c))) return false;
    }
    return cursor.done();
}

}  // namespace

void write_tail(std::filesystem::path const& path, TailNote const& note, std::vector<TailTable> const& tables) {
    std::size_t size = header_bytes + 8 * (3 + 2 * tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t)
        if (auto const* rows = tables[t].rows)
            size += rows->rows() * static_cast<std::size_t>(row_bytes(timeline_tables()[t]));
    std::vector<std::byte> bytes(header_bytes);
    bytes.reserve(size);
    put_word(bytes, static_cast<std::uint64_t>(note.complete_until.ps()));
    put_word(bytes, static_cast<std::uint64_t>(note.state));
    put_word(bytes, micros(note.written_at));
    for (auto const& [first_row, rows] : tables) {
        put_word(bytes, first_row);
        put_word(bytes, rows ? rows->rows() : 0);
        for (std::size_t c = 0; rows && c < rows->columns(); ++c) {
            auto const column = rows->column(c);
            bytes.insert(bytes.end(), column.begin(), column.end());
        }
    }
    auto const payload = std::span(bytes).subspan(header_bytes);
    std::uint64_t const header[] = {magic, payload.size(), checksum_of(payload)};
    std::memcpy(bytes.data(), header, header_bytes);
    replace_file(path, bytes);
}

std::optional<Tail> read_tail(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
    Tail tail;
    ORRERY_VALIDATE(parse(std::as_bytes(std::span(text)), tail), "cannot use {} (it is damaged or cut short)",
                    path.string());
    return tail;
}

}  // namespace orrery
