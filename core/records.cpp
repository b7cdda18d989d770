// SPDX-License-Identifier: Apache-2.0
#include "core/records.hpp"

#include <array>

namespace orrery {

char const* name_of(OpKind kind) {
    static constexpr std::array<char const*, op_kind_count> names = {
        "attention",    "gate",      "dispatch", "experts",    "combine",        "shared_expert", "dense_ffn",
        "compute",      "send",      "receive",  "all_reduce", "reduce_scatter", "all_gather",    "all_to_all",
        "all_to_all_v", "broadcast", "reduce",   "gather",     "scatter",        "send_recv",     "barrier"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace orrery
