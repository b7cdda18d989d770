// SPDX-License-Identifier: Apache-2.0
// The collective operations, by name.
#pragma once

#include "core/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

// What the bytes of an operation count: docs/collectives.md.
enum class CollectiveOp : std::uint8_t {
    all_reduce,
    reduce_scatter,
    all_gather,
    all_to_all,
    all_to_all_v,
    broadcast,
    reduce,
    gather,
    scatter,
    send_receive,
    barrier,
};
inline constexpr int collective_op_count = 11;

// The row of the timeline that an operation becomes. The kinds stand in the order of the operations.
constexpr OpKind kind_of(CollectiveOp op) {
    return static_cast<OpKind>(static_cast<std::uint8_t>(OpKind::all_reduce) + static_cast<std::uint8_t>(op));
}
// "all_reduce"; what a scenario writes with a dash ("all-reduce") is read as well.
char const* name_of(CollectiveOp op);
std::optional<CollectiveOp> collective_op_named(std::string_view name);

}  // namespace orrery
