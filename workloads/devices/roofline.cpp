// SPDX-License-Identifier: Apache-2.0
#include "workloads/devices/roofline.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

struct Sides {
    double arithmetic = 0;  // seconds
    double memory = 0;
};

Sides sides(Device const& device, Kernel const& kernel) {
    double const rate = kernel.cube == Cube::int8 ? device.int8_ops_per_s() : device.bf16_ops_per_s();
    return {kernel.ops / rate, kernel.bytes / device.bytes_per_s()};
}

// 1234567 -> "1.235M": decimal prefixes, so that "1.235M" + "B" reads as bytes.
std::string scaled(double value) {
    constexpr std::array<char const*, 6> prefix = {"", "k", "M", "G", "T", "P"};
    std::size_t step = 0;
    while (value >= 1000 && step + 1 < prefix.size()) {
        value /= 1000;
        ++step;
    }
    return fmt::format("{:.4g} {}", value, prefix[step]);
}

std::string explain(Device const& device, Kernel const& kernel) {
    bool const int8 = kernel.cube == Cube::int8;
    return fmt::format("{} max({}op / ({}op/s * {:.3g}), {}B / ({}B/s * {:.3g})) = {}", kernel.what, scaled(kernel.ops),
                       scaled(int8 ? device.int8_rate : device.bf16_rate),
                       int8 ? device.int8_efficiency : device.bf16_efficiency, scaled(kernel.bytes),
                       scaled(device.memory_rate), device.memory_efficiency, to_string(roofline(device, kernel)));
}

}  // namespace

Time roofline(Device const& device, Kernel const& kernel) {
    Sides const both = sides(device, kernel);
    return Time::from_seconds(std::max(both.arithmetic, both.memory));
}

OpPrice price(Device const& device, std::vector<Kernel> const& kernels) {
    enum Bound { memory, bf16, int8, overhead };
    constexpr std::array<char const*, 4> names = {"HBM bandwidth", "BF16 cube", "INT8 cube", "kernel overhead"};
    std::array<Time, 4> share{};
    OpPrice result;
    int launches = 0;
    for (Kernel const& kernel : kernels) {
        Sides const both = sides(device, kernel);
        Bound const cube = kernel.cube == Cube::int8 ? int8 : bf16;
        Time const time = roofline(device, kernel);
        share[both.arithmetic > both.memory ? cube : memory] += time;
        result.duration += time;
        result.formula += (result.formula.empty() ? "" : " + ") + explain(device, kernel);
        launches += kernel.launches;
    }
    share[overhead] = launches * device.kernel_overhead;
    result.duration += share[overhead];
    result.bound_by = names[static_cast<std::size_t>(std::max_element(share.begin(), share.end()) - share.begin())];
    result.formula +=
        fmt::format(" + {} kernels * {} = {}", launches, to_string(device.kernel_overhead), to_string(result.duration));
    return result;
}

}  // namespace orrery
