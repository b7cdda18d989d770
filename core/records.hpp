// SPDX-License-Identifier: Apache-2.0
// The rows that a run produces. Plain data: knows neither HDF5 nor JSON (io/ does).
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"

#include <compare>
#include <cstdint>

namespace orrery {

// What a rank does. The order is the one used in files and on the screen; append only.
enum class OpKind : std::uint8_t {
    attention = 0,
    gate = 1,
    dispatch = 2,
    experts = 3,  // grouped matmul of the routed (and dedicated shared) experts on this rank
    combine = 4,
    shared_expert = 5,  // a shared expert computed on every rank
    dense_ffn = 6,
    compute = 7,  // of a schedule, as are all that follow
    send = 8,
    receive = 9,
    all_reduce = 10,  // collectives, in the order of CollectiveOp
    reduce_scatter = 11,
    all_gather = 12,
    all_to_all = 13,
    all_to_all_v = 14,
    broadcast = 15,
    reduce = 16,
    gather = 17,
    scatter = 18,
    send_recv = 19,
    barrier = 20,
};
inline constexpr int op_kind_count = 21;
char const* name_of(OpKind);

// One operation of one rank. Rows reach the sink in the order (end, rank, sequence) within a process.
struct OperationRow {
    Time start, end;
    Time wait;     // part of [start, end) spent waiting for peers that had not started yet
    Time exposed;  // communication: part of [start, end) in which the compute stream was idle
    std::uint32_t rank = 0;
    std::uint32_t sequence = 0;  // per rank, from 0
    std::uint16_t layer = 0;     // index in the model
    OpKind kind{};
    std::uint8_t microbatch = 0;
};

// CollectiveRow::bound_bundle when no link binds: the fixed costs of the operator, above all the sender's loop, do.
inline constexpr std::uint32_t no_bundle_binds = 0xffffffff;

// One collective operator over one group: its span, bytes, bound and what binds it. In order (last_end, domain,
// sequence).
struct CollectiveRow {
    Time first_start, last_start, last_end;
    Time bound;                      // no schedule on these links could be faster
    std::int64_t payload_bytes = 0;  // over the network; messages to the own rank are not in it
    std::uint32_t group = 0;
    std::uint32_t domain = 0;
    std::uint32_t sequence = 0;      // per domain
    std::uint32_t bound_bundle = 0;  // BundleId of the link that binds, or no_bundle_binds
    std::uint16_t layer = 0;
    OpKind kind{};
    std::uint8_t microbatch = 0;
};

// Bytes over one bundle in one time bin. Only non-zero bins are rows. In order (bin, bundle).
struct LinkBinRow {
    std::uint32_t bundle = 0;
    std::uint32_t bin = 0;
    std::int64_t wire_bytes = 0;  // including protocol overhead
};

// What packets met at one physical link in one time bin. Only bins in which something happened are rows. In order (bin,
// link).
struct PacketBinRow {
    std::uint32_t link = 0;
    std::uint32_t bin = 0;
    std::int64_t wire_bytes = 0;
    Time busy, paused;  // parts of the bin; paused: told to wait, or out of credit with packets waiting
    std::int64_t max_queue_bytes = 0;
    std::uint32_t marks = 0, drops = 0;
};

// One packet at one link, of those that a scenario asks to see. Every picosecond is exact, so the first rows in order
// (time, link, source, count) are the same however the network was dealt to processes.
struct PacketTraceRow {
    Time time;                             // its first bit leaves, or it is dropped
    std::uint32_t link = 0;                // physical link
    std::uint32_t source = 0, target = 0;  // ranks; of an acknowledgement the other way around
    std::uint32_t number = 0;              // of the packet in its message
    std::int64_t bytes = 0;
    std::int64_t queue_bytes = 0;  // that wait behind it
    std::uint32_t count = 0;       // of its source's packets: tells rows of one picosecond apart
    std::uint8_t kind = 0, marked = 0, dropped = 0, spare = 0;

    friend auto operator<=>(PacketTraceRow const&, PacketTraceRow const&) = default;
};

// Payload from one rank to another over the whole run, both directions of use kept apart.
struct PairRow {
    std::uint32_t source = 0, target = 0;
    std::int64_t dispatch_bytes = 0, combine_bytes = 0;
};

// Tokens that one expert slot received in one layer, all microbatches together.
struct ExpertLoadRow {
    std::uint32_t group = 0;
    std::uint32_t rank = 0;  // the simulated rank that hosts the slot
    std::uint16_t layer = 0;
    std::uint16_t slot = 0;    // slot on that rank
    std::int32_t expert = -1;  // logical routed expert; -1: a copy of the shared expert
    std::int64_t tokens = 0;
};

// Where rows go. Implementations stream; nothing here may be kept in memory for the length of the run.
class TimelineSink {
  public:
    virtual ~TimelineSink() = default;
    virtual void add(OperationRow const&) = 0;
    virtual void add(CollectiveRow const&) = 0;
    virtual void add(ExpertLoadRow const&) = 0;
    virtual void add(LinkBinRow const&) = 0;
    virtual void add(PairRow const&) = 0;
    virtual void add(PacketBinRow const&) = 0;
};

}  // namespace orrery
