// SPDX-License-Identifier: Apache-2.0
// Work that may fail on one process only: afterwards all processes fail alike, or none.
#pragma once

#include "core/check.hpp"
#include "partitions/world.hpp"

#include <functional>

namespace orrery {

// Collective. Runs `work` here; when it threw on any process every process throws the first process's message, as an
// InputError if it was one there and as an InternalError otherwise.
void all_or_none(World const& world, std::function<void()> const& work);

}  // namespace orrery
