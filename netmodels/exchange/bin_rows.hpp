// SPDX-License-Identifier: Apache-2.0
// Rows of link bins on their way to the timeline: what every meter does with its closed bins.
#pragma once

#include "core/records.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// Emits and removes the rows of every bin before `open`, in order (bin, bundle), rows of one bin and bundle added up.
void emit_closed(std::vector<LinkBinRow>& rows, std::uint32_t open, TimelineSink& sink);

}  // namespace orrery
