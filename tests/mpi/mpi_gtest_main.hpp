// SPDX-License-Identifier: Apache-2.0
// The world that the common main of MPI tests has opened.
#pragma once

#include "partitions/world.hpp"

namespace orrery::test {

World& world();

}  // namespace orrery::test
