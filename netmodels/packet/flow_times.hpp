// SPDX-License-Identifier: Apache-2.0
// Completion times of flows, and how many times longer they are than on an empty fabric.
#pragma once

#include "core/log_histogram.hpp"
#include "core/units.hpp"

#include <array>
#include <bit>

namespace orrery {

struct FlowTimes {
    LogHistogram ps;
    LogHistogram slowdown_ppm;  // of the ideal: 1,000,000 is as fast as the links allow
    // The same by size: flows of 2^(k-1) to 2^k - 1 bytes on the wire.
    std::array<LogHistogram, 48> slowdown_by_size;

    static std::size_t size_class(std::int64_t bytes) {
        return std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)), 47);
    }
    static std::int64_t smallest(std::size_t size_class) {
        return size_class == 0 ? 0 : std::int64_t{1} << (size_class - 1);
    }

    void add(std::int64_t bytes, Time duration, Time ideal) {
        ps.add(duration.ps());
        auto const least = std::max<std::int64_t>(1, ideal.ps());
        auto const ppm = static_cast<std::int64_t>((static_cast<Int128>(duration.ps()) * 1'000'000 + least / 2) / least);
        slowdown_ppm.add(ppm);
        slowdown_by_size[size_class(bytes)].add(ppm);
    }
    void merge(FlowTimes const& other) {
        ps.merge(other.ps);
        slowdown_ppm.merge(other.slowdown_ppm);
        for (std::size_t k = 0; k < slowdown_by_size.size(); ++k)
            if (other.slowdown_by_size[k].count() > 0) slowdown_by_size[k].merge(other.slowdown_by_size[k]);
    }
    void state(StateStream& stream) { stream(ps, slowdown_ppm, slowdown_by_size); }
};

}  // namespace orrery
