// SPDX-License-Identifier: Apache-2.0
// Completion times of flows, and how many times longer they are than on an empty fabric.
#pragma once

#include "core/log_histogram.hpp"
#include "core/units.hpp"

namespace orrery {

struct FlowTimes {
    LogHistogram ps;
    LogHistogram slowdown_ppm;  // of the ideal: 1,000,000 is as fast as the links allow

    void add(Time duration, Time ideal) {
        ps.add(duration.ps());
        auto const least = std::max<std::int64_t>(1, ideal.ps());
        slowdown_ppm.add(
            static_cast<std::int64_t>((static_cast<Int128>(duration.ps()) * 1'000'000 + least / 2) / least));
    }
    void merge(FlowTimes const& other) {
        ps.merge(other.ps);
        slowdown_ppm.merge(other.slowdown_ppm);
    }
    void state(StateStream& stream) { stream(ps, slowdown_ppm); }
};

}  // namespace orrery
