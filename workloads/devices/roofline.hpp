// SPDX-License-Identifier: Apache-2.0
// The one formula behind every price: a kernel takes as long as its arithmetic or its memory traffic, plus its start.
#pragma once

#include "workloads/devices/device.hpp"

#include <string_view>
#include <vector>

namespace orrery {

enum class Cube : std::uint8_t { int8, bf16 };

// One kernel (or several alike that share the work).
struct Kernel {
    std::string_view what;
    Cube cube = Cube::int8;
    double ops = 0;
    double bytes = 0;
    int launches = 1;
};

// max(ops / (peak * efficiency), bytes / (rate * efficiency)), rounded up to a picosecond; without the overhead.
Time roofline(Device const&, Kernel const&);

// Sums the kernels and their overheads. bound_by names what holds the largest part of the sum.
OpPrice price(Device const&, std::vector<Kernel> const&);

}  // namespace orrery
