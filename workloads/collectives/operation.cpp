// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/operation.hpp"

#include <algorithm>

namespace orrery {

static_assert(op_kind_count == static_cast<int>(kind_of(CollectiveOp::barrier)) + 1);

char const* name_of(CollectiveOp op) {
    return name_of(kind_of(op));
}

std::optional<CollectiveOp> collective_op_named(std::string_view name) {
    std::string plain{name};
    std::replace(plain.begin(), plain.end(), '-', '_');
    for (int i = 0; i < collective_op_count; ++i)
        if (auto const op = static_cast<CollectiveOp>(i); plain == name_of(op)) return op;
    return std::nullopt;
}

}  // namespace orrery
