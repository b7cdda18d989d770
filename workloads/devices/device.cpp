// SPDX-License-Identifier: Apache-2.0
#include "workloads/devices/device.hpp"

#include "core/check.hpp"
#include "proto/scenario.pb.h"

namespace orrery {

Device make_device(scenario::DeviceSpec const& spec) {
    ORRERY_ENSURE(spec.has_int8_rate() && spec.has_bf16_rate() && spec.has_memory_rate() &&
                      spec.has_int8_efficiency() && spec.has_bf16_efficiency() && spec.has_memory_efficiency() &&
                      spec.has_kernel_overhead() && spec.has_vector_cores(),
                  "the device section reached the pricing without its defaults");
    Device device;
    device.name = spec.name();
    device.int8_rate = spec.int8_rate();
    device.bf16_rate = spec.bf16_rate();
    device.memory_rate = Rate::from_bits_per_s(spec.memory_rate()).bytes_per_s();
    device.int8_efficiency = spec.int8_efficiency();
    device.bf16_efficiency = spec.bf16_efficiency();
    device.memory_efficiency = spec.memory_efficiency();
    device.kernel_overhead = Time::from_ps(spec.kernel_overhead());
    device.vector_cores = spec.vector_cores();
    return device;
}

}  // namespace orrery
