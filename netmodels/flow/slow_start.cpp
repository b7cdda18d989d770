// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/slow_start.hpp"

namespace orrery {

SlowStart::SlowStart(std::int64_t initial_window_bytes, Time round_trip) : round_trip_(round_trip) {
    if (initial_window_bytes == 0) return;
    ORRERY_ENSURE(initial_window_bytes > 0 && round_trip > Time{}, "a window of {} B per {}", initial_window_bytes,
                  to_string(round_trip));
    auto const bits = static_cast<UInt128>(initial_window_bytes) * 8'000'000'000'000U;
    first_ =
        std::min(MaxMinKernel::fastest(),
                 Rate::from_bits_per_s(static_cast<std::int64_t>(bits / static_cast<std::uint64_t>(round_trip.ps()))));
    first_ = std::max(first_, Rate::from_bits_per_s(1));
}

void SlowStart::began(Time now, std::uint32_t flow, std::uint64_t cookie, Rate cap) {
    ramps_.push_back({now + round_trip_, cookie, flow, first_, std::min(cap, MaxMinKernel::fastest())});
}

void SlowStart::advance(Time now, MaxMinKernel& kernel) {
    while (!ramps_.empty() && ramps_.front().when <= now) {
        auto ramp = ramps_.front();
        ramps_.pop_front();
        if (!kernel.is_active(ramp.flow, ramp.cookie)) continue;
        ramp.window = std::min(ramp.window + ramp.window, ramp.cap);
        kernel.set_cap(ramp.flow, ramp.window);
        if (ramp.window == ramp.cap) continue;
        ramp.when += round_trip_;
        ramps_.push_back(ramp);
    }
}

}  // namespace orrery
