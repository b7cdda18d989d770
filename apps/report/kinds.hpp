// SPDX-License-Identifier: Apache-2.0
// Which operations compute, and which move data between ranks.
#pragma once

#include "core/records.hpp"

#include <string_view>

namespace orrery {

constexpr bool computes(OpKind kind) {
    switch (kind) {
        case OpKind::attention:
        case OpKind::gate:
        case OpKind::experts:
        case OpKind::shared_expert:
        case OpKind::dense_ffn:
        case OpKind::compute:
            return true;
        default:
            return false;
    }
}

// By the name that files give it.
inline bool computes(std::string_view name) {
    for (int kind = 0; kind < op_kind_count; ++kind)
        if (name == name_of(static_cast<OpKind>(kind))) return computes(static_cast<OpKind>(kind));
    return false;
}

}  // namespace orrery
