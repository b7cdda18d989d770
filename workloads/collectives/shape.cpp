// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/shape.hpp"

#include "core/check.hpp"
#include "netmodels/topology/nearest.hpp"

#include <array>
#include <cctype>

namespace orrery {
namespace {

constexpr std::array<char const*, collective_op_count> names = {
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "all-to-all-v", "broadcast",
    "reduce",     "gather",         "scatter",    "send-recv",  "barrier"};

// Letters only, small: "All_Reduce" and "allreduce" are one name.
std::string letters(std::string_view name) {
    std::string result;
    for (char const c : name)
        if (std::isalpha(static_cast<unsigned char>(c)))
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

}  // namespace

char const* name_of(CollectiveOp op) {
    return names[static_cast<std::size_t>(op)];
}

CollectiveOp collective_op_of(std::string_view name) {
    NearestNames nearest(name);
    for (int op = 0; op < collective_op_count; ++op) {
        if (letters(names[static_cast<std::size_t>(op)]) == letters(name)) return static_cast<CollectiveOp>(op);
        nearest.offer(names[static_cast<std::size_t>(op)]);
    }
    throw InputError(fmt::format("the operation is '{}' (no such collective); did you mean {}?", name, nearest.text()));
}

}  // namespace orrery
