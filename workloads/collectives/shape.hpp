// SPDX-License-Identifier: Apache-2.0
// What a collective is asked to do: operation, members, bytes, and where the members sit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// The order is the one used in files and on the screen; append only.
enum class CollectiveOp : std::uint8_t {
    all_reduce = 0,
    reduce_scatter = 1,
    all_gather = 2,
    all_to_all = 3,
    all_to_all_v = 4,  // bytes per pair
    broadcast = 5,
    reduce = 6,
    gather = 7,
    scatter = 8,
    send_recv = 9,  // every member sends to the next one, as in nccl-tests
    barrier = 10,
};
inline constexpr int collective_op_count = 11;
char const* name_of(CollectiveOp);                     // "all-reduce"
CollectiveOp collective_op_of(std::string_view name);  // also all_reduce, AllReduce; an unknown one is an InputError

// Who sends how much to whom in an all-to-all-v. Pure.
class PairBytes {
  public:
    virtual ~PairBytes() = default;
    virtual std::int64_t bytes(std::uint32_t source, std::uint32_t target) const = 0;
};

// Members are numbered from 0 in the order in which the algorithm arranges them (the caller maps them to ranks).
struct CollectiveShape {
    CollectiveOp op{};
    std::uint32_t members = 1;
    // What nccl-tests calls size: the buffer of one member for all-reduce, broadcast, reduce and send/recv; the input
    // of one member for reduce-scatter and all-to-all (its own part included); the output of one member for all-gather;
    // all that passes the root for gather and scatter. Not used for all-to-all-v and barrier.
    std::int64_t bytes = 0;
    std::uint32_t root = 0;
    // levels[0][i]: first member of node i; levels[1][i]: first node of pod i; ascending from 0. Empty: one node.
    std::vector<std::vector<std::uint32_t>> levels;
    // The data goes in so many chunks, one after the other through the steps of the algorithm.
    std::uint32_t chunks = 1;
    // Of hierarchical algorithms, from the inside of a node up; empty: the algorithm's own choice.
    std::vector<std::string> level_algorithms;
    std::shared_ptr<PairBytes const> pair_bytes;  // all-to-all-v only
};

}  // namespace orrery
