// SPDX-License-Identifier: Apache-2.0
// What carrying out a collective costs beside the network: how its messages are framed, and fixed times.
#pragma once

#include "core/units.hpp"

#include <cstdint>
#include <string>

namespace orrery {

// The default costs nothing: a collective then takes what its closed form says.
struct CollectiveProtocol {
    std::string name = "none";  // "LL", "LL128", "Simple"
    // Bytes on the wire per byte of data. LL sends 8 bytes of flags with 8 of data: 2/1; LL128 8 of 128: 16/15.
    std::int64_t wire_bytes = 1, data_bytes = 1;
    Rate cap = Rate::unlimited();  // of one message
    Time launch;                   // from the start of the operation on a member to its first step
    Time near, far;                // added to the latency of every message inside a node, between nodes

    std::int64_t on_wire(std::int64_t bytes) const {
        return static_cast<std::int64_t>((static_cast<Int128>(bytes) * wire_bytes + data_bytes - 1) / data_bytes);
    }
};

}  // namespace orrery
