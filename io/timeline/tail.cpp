// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/tail.hpp"

#include "core/check.hpp"
#include "core/digest.hpp"
#include "io/timeline/atomic_file.hpp"

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

namespace orrery {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t magic = 0x314c4941545252ffU;  // ff "RRTAIL1"
constexpr std::size_t header_bytes = 3 * sizeof(std::uint64_t);

std::uint64_t checksum(std::span<std::byte const> bytes) {
    DigestChain chain;
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
        chain.add(word);
    }
    return chain.low() ^ bytes.size();
}

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

bool parse(std::span<std::byte const> bytes, std::vector<TailRows>& tables) {
    Cursor header(bytes);
    std::uint64_t found_magic = 0, length = 0, sum = 0;
    if (!header.take(found_magic) || !header.take(length) || !header.take(sum)) return false;
    auto const payload = bytes.subspan(header_bytes);
    if (found_magic != magic || length != payload.size() || sum != checksum(payload)) return false;
    Cursor cursor(payload);
    for (auto const& table : timeline_tables()) {
        std::uint64_t first = 0, rows = 0;
        if (!cursor.take(first) || !cursor.take(rows) || rows > timeline_chunk_rows) return false;
        auto& entry = tables.emplace_back(TailRows{first, RowBlock(table, rows)});
        entry.rows.resize(rows);
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (!cursor.take(entry.rows.column(c))) return false;
    }
    return cursor.done();
}

}  // namespace

void write_tail(std::filesystem::path const& path, std::vector<TailTable> const& tables) {
    std::vector<std::byte> bytes(header_bytes);
    for (std::size_t t = 0; t < tables.size(); ++t) {
        put_word(bytes, tables[t].first_row);
        put_word(bytes, tables[t].rows->rows());
        if (tables[t].rows->rows() == 0) continue;
        for (std::size_t c = 0; c < timeline_tables()[t].columns.size(); ++c) {
            auto const column = tables[t].rows->column(c);
            bytes.insert(bytes.end(), column.begin(), column.end());
        }
    }
    auto const payload = std::span(bytes).subspan(header_bytes);
    std::uint64_t const header[] = {magic, payload.size(), checksum(payload)};
    std::memcpy(bytes.data(), header, header_bytes);
    replace_file(path, bytes);
}

std::optional<std::vector<TailRows>> read_tail(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
    std::vector<TailRows> tables;
    ORRERY_VALIDATE(parse(std::as_bytes(std::span(text)), tables), "cannot use {} (it is damaged or cut short)",
                    path.string());
    return tables;
}

}  // namespace orrery
