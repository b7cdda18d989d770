// SPDX-License-Identifier: Apache-2.0
// Columns and keys of every table. The order of a table's columns here is the order in which put() fills them.
#include "io/timeline/table.hpp"

#include "core/check.hpp"

#include <iterator>

namespace orrery {
namespace {

using enum hdf5::Element;

constexpr Column operation_columns[] = {
    {"start", i64, "ps", "simulated time at which the operation started"},
    {"end", i64, "ps", "simulated time at which the operation ended"},
    {"wait", i64, "ps", "part of [start, end) spent waiting for peers that had not started yet"},
    {"exposed", i64, "ps", "communication: part of [start, end) in which the compute stream was idle"},
    {"rank", u32, "1", "simulated rank"},
    {"sequence", u32, "1", "number of the operation on its rank, from 0"},
    {"layer", u16, "1", "layer of the model"},
    {"kind", u8, "1", "what the rank did; the attribute names lists the meaning of each value"},
    {"microbatch", u8, "1", "microbatch, from 0"},
};

constexpr Column collective_columns[] = {
    {"first_start", i64, "ps", "simulated time at which the first member started"},
    {"last_start", i64, "ps", "simulated time at which the last member started"},
    {"last_end", i64, "ps", "simulated time at which the last member ended"},
    {"bound", i64, "ps", "no schedule on these links could be faster"},
    {"payload_bytes", i64, "B", "payload over the network; messages to the own rank are not in it"},
    {"group", u32, "1", "group of ranks"},
    {"domain", u32, "1", "domain of links that carried it"},
    {"sequence", u32, "1", "number of the collective in its domain, from 0"},
    {"bound_bundle", u32, "1", "bundle that binds the bound; 4294967295: fixed costs bind"},
    {"layer", u16, "1", "layer of the model"},
    {"kind", u8, "1", "which operation; the attribute names lists the meaning of each value"},
    {"microbatch", u8, "1", "microbatch, from 0"},
};

constexpr Column link_bin_columns[] = {
    {"bundle", u32, "1", "bundle of links, an id of /fabric/bundles/id"},
    {"bin", u32, "1", "time bin, from 0; the width of a bin stands in /manifest"},
    {"wire_bytes", i64, "B", "bytes on the wire in this bin, protocol overhead included"},
};

constexpr Column pair_columns[] = {
    {"source", u32, "1", "rank that sent"},
    {"target", u32, "1", "rank that received"},
    {"dispatch_bytes", i64, "B", "payload of dispatch over the whole run"},
    {"combine_bytes", i64, "B", "payload of combine over the whole run"},
};

constexpr Column expert_load_columns[] = {
    {"group", u32, "1", "expert-parallel group"},
    {"rank", u32, "1", "rank that hosts the slot"},
    {"layer", u16, "1", "layer of the model"},
    {"slot", u16, "1", "slot on that rank"},
    {"expert", i32, "1", "logical routed expert; -1: a copy of the shared expert"},
    {"tokens", i64, "1", "tokens received, all microbatches together"},
};

constexpr Column packet_bin_columns[] = {
    {"link", u32, "1", "physical link, a row of /fabric/links"},
    {"bin", u32, "1", "time bin, from 0; the width of a bin stands in /manifest"},
    {"wire_bytes", i64, "B", "bytes of all packets whose first bit left in this bin"},
    {"busy", i64, "ps", "part of the bin in which the link sent"},
    {"paused", i64, "ps", "part of it in which it was paused, or out of credit with packets waiting"},
    {"max_queue", i64, "B", "longest queue in front of it"},
    {"marks", u32, "1", "packets marked"},
    {"drops", u32, "1", "packets dropped or lost"},
};

constexpr std::uint64_t pack(std::uint32_t high, std::uint32_t low) {
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

constexpr std::size_t operation_key_columns[] = {1, 4, 5};
RowKey operation_key(RowBlock const& b, std::size_t row) {
    return {b.at<std::int64_t>(1, row), pack(b.at<std::uint32_t>(4, row), b.at<std::uint32_t>(5, row))};
}

constexpr std::size_t collective_key_columns[] = {2, 6, 7};
RowKey collective_key(RowBlock const& b, std::size_t row) {
    return {b.at<std::int64_t>(2, row), pack(b.at<std::uint32_t>(6, row), b.at<std::uint32_t>(7, row))};
}

constexpr std::size_t link_bin_key_columns[] = {0, 1};
RowKey link_bin_key(RowBlock const& b, std::size_t row) {
    return {0, pack(b.at<std::uint32_t>(1, row), b.at<std::uint32_t>(0, row))};
}

constexpr std::size_t pair_key_columns[] = {0, 1};
RowKey pair_key(RowBlock const& b, std::size_t row) {
    return {0, pack(b.at<std::uint32_t>(0, row), b.at<std::uint32_t>(1, row))};
}

constexpr std::size_t expert_load_key_columns[] = {0, 1, 2, 3};
RowKey expert_load_key(RowBlock const& b, std::size_t row) {
    return {(static_cast<std::int64_t>(b.at<std::uint32_t>(0, row)) << 16) | b.at<std::uint16_t>(2, row),
            (static_cast<std::uint64_t>(b.at<std::uint32_t>(1, row)) << 16) | b.at<std::uint16_t>(3, row)};
}

constexpr Table tables[] = {
    {"operations", "what each rank did, one row per operation", "end, rank, sequence", operation_columns, operation_key,
     operation_key_columns, Detail::layers, Table::Moment::time, 1},
    {"collectives", "one row per collective operator and group", "last_end, domain, sequence", collective_columns,
     collective_key, collective_key_columns, Detail::summary, Table::Moment::time, 2},
    {"link_bins", "bytes per bundle and time bin, non-zero bins only", "bin, bundle", link_bin_columns, link_bin_key,
     link_bin_key_columns, Detail::summary, Table::Moment::bin, 1},
    {"pairs", "payload from rank to rank over the whole run", "source, target", pair_columns, pair_key,
     pair_key_columns, Detail::full, Table::Moment::end_of_run, 0},
    {"expert_loads", "tokens per expert slot and layer", "group, layer, rank, slot", expert_load_columns,
     expert_load_key, expert_load_key_columns, Detail::layers, Table::Moment::end_of_run, 0},
    {"packet_bins", "what packets met per physical link and time bin", "bin, link", packet_bin_columns, link_bin_key,
     link_bin_key_columns, Detail::summary, Table::Moment::bin, 1},
};

static_assert(std::size(tables) == timeline_table_count);

// Writes the fields of one row, in the order of the columns.
template <class... Fields>
void put_fields(RowBlock& block, Fields... fields) {
    auto const row = block.rows();
    ORRERY_EXPECT(row < block.capacity());
    std::size_t column = 0;
    (block.set(column++, row, fields), ...);
    block.resize(row + 1);
}

}  // namespace

std::span<Table const> timeline_tables() {
    return tables;
}

std::int64_t row_bytes(Table const& table) {
    std::size_t bytes = 0;
    for (auto const& column : table.columns) bytes += hdf5::RowType{column.element}.size();
    return static_cast<std::int64_t>(bytes);
}

char const* name_of(Detail detail) {
    static constexpr char const* names[] = {"summary", "layers", "full"};
    return names[static_cast<std::size_t>(detail)];
}

Detail detail_named(std::string_view name) {
    for (auto const detail : {Detail::summary, Detail::layers, Detail::full})
        if (name == name_of(detail)) return detail;
    throw InputError(fmt::format("{} is no level of detail (there are summary, layers and full)", name));
}

std::vector<std::string> operation_kind_names() {
    std::vector<std::string> names;
    for (int kind = 0; kind < op_kind_count; ++kind) names.emplace_back(name_of(static_cast<OpKind>(kind)));
    return names;
}

RowBlock::RowBlock(Table const& table, std::size_t capacity) : capacity_(capacity) {
    for (auto const& column : table.columns) {
        auto const width = hdf5::RowType{column.element}.size();
        columns_.push_back({width, std::vector<std::byte>(width * capacity)});
    }
}

void RowBlock::append(RowBlock const& other, std::size_t first, std::size_t count) {
    ORRERY_ENSURE(rows_ + count <= capacity_ && first + count <= other.rows_, "block of {} rows overflows", capacity_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        auto const w = columns_[c].width;
        std::memcpy(columns_[c].data.data() + rows_ * w, other.columns_[c].data.data() + first * w, count * w);
    }
    rows_ += count;
}

void put(RowBlock& block, OperationRow const& r) {
    put_fields(block, r.start.ps(), r.end.ps(), r.wait.ps(), r.exposed.ps(), r.rank, r.sequence, r.layer, r.kind,
               r.microbatch);
}

void put(RowBlock& block, CollectiveRow const& r) {
    put_fields(block, r.first_start.ps(), r.last_start.ps(), r.last_end.ps(), r.bound.ps(), r.payload_bytes, r.group,
               r.domain, r.sequence, r.bound_bundle, r.layer, r.kind, r.microbatch);
}

void put(RowBlock& block, LinkBinRow const& r) {
    put_fields(block, r.bundle, r.bin, r.wire_bytes);
}

void put(RowBlock& block, PairRow const& r) {
    put_fields(block, r.source, r.target, r.dispatch_bytes, r.combine_bytes);
}

void put(RowBlock& block, ExpertLoadRow const& r) {
    put_fields(block, r.group, r.rank, r.layer, r.slot, r.expert, r.tokens);
}

void put(RowBlock& block, PacketBinRow const& r) {
    put_fields(block, r.link, r.bin, r.wire_bytes, r.busy.ps(), r.paused.ps(), r.max_queue_bytes, r.marks, r.drops);
}

}  // namespace orrery
