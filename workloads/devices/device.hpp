// SPDX-License-Identifier: Apache-2.0
// What one rank computes with, and what an operation costs on it.
#pragma once

#include "core/units.hpp"

#include <cstdint>
#include <string>

namespace orrery {

namespace scenario {
class DeviceSpec;
}

// decode: a few new tokens per sequence against a context; prefill: whole prompts (or chunks of them).
enum class Phase : std::uint8_t { decode, prefill };

// Peaks, and the share of them that large kernels achieve. Units per second; bytes for memory.
struct Device {
    std::string name;
    double int8_rate = 0;
    double bf16_rate = 0;
    double memory_rate = 0;
    double int8_efficiency = 1;
    double bf16_efficiency = 1;
    double memory_efficiency = 1;
    Time kernel_overhead;  // start and end of one kernel
    std::uint32_t vector_cores = 0;

    double int8_ops_per_s() const { return int8_rate * int8_efficiency; }
    double bf16_ops_per_s() const { return bf16_rate * bf16_efficiency; }
    double bytes_per_s() const { return memory_rate * memory_efficiency; }
};

// The spec must be resolved: every field set, as the scenario loader leaves it.
Device make_device(scenario::DeviceSpec const& spec);

// A duration, what bounds most of it, and how it was computed, with numbers.
struct OpPrice {
    Time duration;
    char const* bound_by = "kernel overhead";
    std::string formula;
};

}  // namespace orrery
